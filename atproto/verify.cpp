#include "atproto/verify.hpp"

#include "atproto/car.hpp"
#include "atproto/limits.hpp"
#include "atproto/mst.hpp"
#include "atproto/record.hpp"

#include <algorithm>
#include <optional>

namespace weir::atproto {

namespace {

refusal refuse(verdict why, std::string reason) {
  return {why, std::move(reason), {}};
}

refusal refuse(verdict why, const error& what) {
  return {why, what.context, {}};
}

refusal future_rev(tid rev) {
  return {verdict::future_rev, "rev is in the future: " + rev.str(), rev};
}

refusal bad_signature() {
  return refuse(verdict::bad_signature,
                "the commit is not signed by the account's key");
}

/// A CAR slice and the commit object that is its root. The commit names this
/// DID. No hash has been checked yet.
struct opened_slice {
  car_slice car;
  cid id;
  bytes_view block;
  commit_object commit;

  bool block_matches() const { return cid::of_dag_cbor(block) == id; }
};

refusal wrong_hash() {
  return refuse(verdict::bad_shape, "commit block does not match its CID");
}

verified<commit_object> decode_own_commit(bytes_view block,
                                          const did& expected) {
  auto commit = decode_commit(block);
  if (!commit)
    return refuse(verdict::bad_shape, commit.error());
  if (commit->repo != expected)
    return refuse(verdict::bad_shape, "commit of another repository");
  return std::move(*commit);
}

verified<opened_slice> open_slice(bytes_view blocks, const did& expected,
                                  tid rev) {
  auto car = car_slice::parse(blocks);
  if (!car)
    return refuse(verdict::bad_shape, car.error());
  const auto id = car->roots().front();
  const auto* block = car->find(id);
  if (block == nullptr)
    return refuse(verdict::bad_shape, "the CAR lacks its commit block");
  const auto data = block->data;
  auto commit = decode_own_commit(data, expected);
  if (!commit)
    return commit.error();
  if (commit->rev != rev)
    return refuse(verdict::bad_shape, "rev differs from the commit's");
  return opened_slice{std::move(*car), id, data, std::move(*commit)};
}

mst::block_source source_of(const car_slice& car) {
  return [&car](const cid& id) -> const bytes_view* {
    const auto* block = car.find(id);
    return block == nullptr ? nullptr : &block->data;
  };
}

/// Says why an event cannot be inverted at all; empty when it can.
std::string_view not_invertible(const commit_event& event) {
  if (event.too_big)
    return "tooBig commit";
  const auto lacks_prev = [](const commit_op& x) {
    return x.action != op_action::create && !x.prev.defined();
  };
  if (std::any_of(event.ops.begin(), event.ops.end(), lacks_prev))
    return "op without prev";
  return {};
}

/// True for a first commit: its creates are the whole tree, and the CAR has it.
bool is_whole_tree(const opened_slice& x, std::span<const commit_op> ops) {
  std::vector<mst::leaf> leaves;
  leaves.reserve(ops.size());
  for (const auto& op : ops) {
    if (op.action != op_action::create || !valid_repo_path(op.path))
      return false;
    leaves.push_back({op.path, op.id});
  }
  std::sort(leaves.begin(), leaves.end(), [](const auto& a, const auto& b) {
    return a.key < b.key;
  });
  const auto twice = std::adjacent_find(leaves.begin(), leaves.end(),
                                        [](const auto& a, const auto& b) {
                                          return a.key == b.key;
                                        });
  if (twice != leaves.end())
    return false;
  bool all_here = true;
  const auto root = mst::root_of(leaves, [&](const cid& id, bytes_view) {
    all_here = all_here && x.car.find(id) != nullptr;
  });
  return all_here && root == x.commit.data;
}

verified_op to_verified(const shared_bytes& frame, const car_slice& car,
                        const commit_op& op) {
  const auto [collection, rkey] = split_path(op.path);
  verified_op out{
    op.action, std::string{collection}, std::string{rkey}, op.id, op.prev, {},
    false};
  if (op.action == op_action::remove)
    return out;
  const auto* block = car.find(op.id);
  if (block != nullptr && op.id.is_dag_cbor() && is_record(block->data))
    out.record = frame.slice(block->data);
  else
    out.undecodable = true;
  return out;
}

/// Checks that the CAR has every record that the ops name, each only as often
/// as allowed.
result<void> check_records(const opened_slice& x, const commit_event& event) {
  uint64_t record_bytes = 0;
  for (const auto& op : event.ops) {
    const auto* block = x.car.find(op.id);
    if (block != nullptr)
      record_bytes += block->data.size();
    else if (op.id.is_dag_cbor() || op.id.is_raw())
      return fail(ec::verification_failed,
                  "record block is absent: " + std::string{op.path});
  }
  if (record_bytes > record_bytes_allowed(event.blocks.size()))
    return fail(ec::limit_reached, "records repeated too often");
  return {};
}

/// Checks what a hashed slice must prove besides the signature: records and
/// tree.
result<void> check_proof(const opened_slice& x, const commit_event& event) {
  if (auto records = check_records(x, event); !records)
    return records;
  if (!event.prev_data.defined())
    return is_whole_tree(x, event.ops)
             ? result<void>{}
             : fail(ec::unverifiable, "commit without prevData");
  return mst::check_inversion(x.commit.data, event.prev_data, event.ops,
                              source_of(x.car));
}

/// Says why a hashed slice does not prove its event, or nothing when it does.
std::optional<refusal> find_fault(const opened_slice& x,
                                  const commit_event& event) {
  if (const auto reason = not_invertible(event); !reason.empty())
    return refuse(verdict::unverifiable, std::string{reason});
  const auto proof = check_proof(x, event);
  if (proof)
    return std::nullopt;
  const bool unchained
    = !event.prev_data.defined() && proof.error().code == ec::unverifiable;
  return refuse(unchained ? verdict::unverifiable : verdict::bad_proof,
                proof.error());
}

verified_commit to_verified(const shared_bytes& frame,
                            const commit_event& event, opened_slice x) {
  verified_commit out;
  out.ops.reserve(event.ops.size());
  for (const auto& op : event.ops)
    out.ops.push_back(to_verified(frame, x.car, op));
  out.repo = event.repo;
  out.rev = event.rev;
  out.since = event.since;
  out.commit = std::move(x.id);
  out.data = std::move(x.commit.data);
  out.prev_data = event.prev_data;
  out.commit_block = frame.slice(x.block);
  return out;
}

} // namespace

const char* to_string(verdict x) noexcept {
  switch (x) {
    case verdict::bad_shape:
      return "bad_shape";
    case verdict::future_rev:
      return "future_rev";
    case verdict::bad_signature:
      return "bad_signature";
    case verdict::bad_proof:
      return "bad_proof";
    case verdict::unverifiable:
      return "unverifiable";
  }
  return "unknown";
}

bool in_future(tid rev, wall_time now) noexcept {
  return rev.time() > now + limits::rev_future_max;
}

verified<verified_commit> verify_commit(const shared_bytes& frame,
                                        const commit_event& event,
                                        const public_key& key, wall_time now) {
  if (event.blocks.empty())
    return refuse(verdict::unverifiable, "commit without blocks");
  auto slice = open_slice(event.blocks, event.repo, event.rev);
  if (!slice)
    return slice.error();
  if (slice->id != event.commit)
    return refuse(verdict::bad_shape, "the CAR's root is another commit");
  const auto hashed = slice->car.check_hashes();
  if (!hashed && !slice->block_matches())
    return wrong_hash();
  auto fault = hashed ? find_fault(*slice, event)
                      : refuse(verdict::bad_proof, hashed.error());
  if (!check_commit_signature(slice->block, key))
    return bad_signature();
  // A fault of the proof counts only when the account itself signed it.
  if (fault) {
    fault->signed_rev = event.rev;
    return *fault;
  }
  if (in_future(event.rev, now))
    return future_rev(event.rev);
  return to_verified(frame, event, std::move(*slice));
}

verified<verified_sync> verify_sync(const shared_bytes& frame,
                                    const sync_event& event,
                                    const public_key& key, wall_time now) {
  auto slice = open_slice(event.blocks, event.repo, event.rev);
  if (!slice)
    return slice.error();
  if (!slice->block_matches())
    return wrong_hash();
  if (!check_commit_signature(slice->block, key))
    return bad_signature();
  if (in_future(event.rev, now))
    return future_rev(event.rev);
  return verified_sync{event.repo, event.rev, std::move(slice->id),
                       std::move(slice->commit.data),
                       frame.slice(slice->block)};
}

verified<verified_root> verify_root(bytes_view block, const cid& id,
                                    const did& expected, const public_key& key,
                                    wall_time now) {
  if (cid::of_dag_cbor(block) != id)
    return wrong_hash();
  auto commit = decode_own_commit(block, expected);
  if (!commit)
    return commit.error();
  if (!check_commit_signature(block, key))
    return bad_signature();
  if (in_future(commit->rev, now))
    return future_rev(commit->rev);
  return verified_root{std::move(commit->repo), commit->rev, id,
                       std::move(commit->data), shared_bytes::copy_of(block)};
}

} // namespace weir::atproto
