#include "tests/support/repo_builder.hpp"

#include "atproto/car.hpp"
#include "atproto/dag_cbor.hpp"

#include <array>
#include <cassert>
#include <ctime>
#include <unordered_set>

namespace weir::tests {

using namespace atproto;

namespace {

/// 2026-01-01: the time of the first commit of a repository without a clock.
constexpr wall_time epoch{1'767'225'600'000'000};

constexpr uint16_t clock_id = 7;

atproto::did make_did(random_source& random) {
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz234567";
  std::string out = "did:plc:";
  for (int i = 0; i < 24; ++i)
    out += letters[random.below(letters.size())];
  return atproto::did::trusted(std::move(out));
}

} // namespace

bytes make_record(std::string_view text) {
  cbor::writer out;
  out.begin_map(2).put_text("text").put_text(text);
  out.put_text("$type").put_text("app.test.note");
  return out.take();
}

bytes unknown_frame(int64_t seq) {
  cbor::writer out;
  out.begin_map(2).put_text("t").put_text("#idle").put_text("op").put_int(1);
  out.begin_map(1).put_text("seq").put_int(seq);
  return out.take();
}

bytes make_car(const cid& root, const std::vector<named_block>& blocks) {
  car_writer out{std::span{&root, 1}};
  for (const auto& [id, data] : blocks)
    out.add(id, data);
  return out.take();
}

verified<verified_commit> verify_frame(const bytes& frame,
                                       const public_key& key, wall_time now) {
  const auto owned = shared_bytes::copy_of(frame);
  const auto event = decode_frame(owned.view());
  if (!event)
    return refusal{verdict::bad_shape, event.error().context};
  const auto* commit = std::get_if<commit_event>(&*event);
  if (commit == nullptr)
    return refusal{verdict::bad_shape, "no commit"};
  return verify_commit(owned, *commit, key, now);
}

std::string frame_time_of(wall_time x) {
  const auto seconds = static_cast<std::time_t>(x.seconds());
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  std::array<char, 32> out{};
  const auto size = std::strftime(out.data(), out.size(), "%FT%TZ", &parts);
  return {out.data(), size};
}

// -- commit_draft -------------------------------------------------------------

bytes commit_draft::sign(const private_key& key) const {
  return encode_signed_commit(object, key);
}

bytes commit_draft::encode(bytes_view commit_block) const {
  const auto id = cid::of_dag_cbor(commit_block);
  std::vector<named_block> all{
    {id, bytes{commit_block.begin(), commit_block.end()}}};
  all.insert(all.end(), blocks.begin(), blocks.end());
  const auto car = make_car(id, all);
  const auto time = frame_time_of(object.rev.time());
  commit_event out;
  out.seq = seq;
  out.repo = object.repo;
  out.time = time;
  out.rev = object.rev;
  out.since = since;
  out.commit = id;
  out.prev_data = prev_data;
  out.blocks = car;
  for (const auto& op : ops)
    out.ops.push_back({op.action, op.path, op.id, op.prev});
  out.too_big = too_big;
  return encode_frame(out);
}

// -- test_repo ----------------------------------------------------------------

test_repo::test_repo(uint64_t seed, curve which, const clock* time)
  : time_(time),
    rev_(tid::from_time(time == nullptr ? epoch : time->wall_now(), clock_id)),
    data_(mst::empty_root()) {
  const auto random = seeded_random(seed);
  did_ = make_did(*random);
  key_ = private_key::generate(which, *random);
  const bytes no_entries{0xa2, 0x61, 0x65, 0x80, 0x61, 0x6c, 0xf6};
  nodes_.emplace(data_, no_entries); // {"e": [], "l": null}
}

void test_repo::put(std::string_view path, bytes record) {
  const auto id = cid::of_dag_cbor(record);
  bodies_[id] = std::move(record);
  put(path, id);
}

void test_repo::put(std::string_view path, const cid& id) {
  owned_op op{op_action::create, std::string{path}, id, {}};
  if (const auto old = records_.find(path); old != records_.end()) {
    op.action = op_action::update;
    op.prev = old->second;
  }
  waiting_.push_back(std::move(op));
  records_.insert_or_assign(std::string{path}, id);
}

void test_repo::remove(std::string_view path) {
  const auto old = records_.find(path);
  assert(old != records_.end());
  waiting_.push_back({op_action::remove, std::string{path}, {}, old->second});
  records_.erase(old);
}

const bytes_view* test_repo::find_node(const cid& id) {
  const auto at = nodes_.find(id);
  if (at == nodes_.end())
    return nullptr;
  found_ = at->second;
  return &found_;
}

commit_object test_repo::object() const {
  return {did_, rev_, data_, {}, {}};
}

tid test_repo::next_rev() const {
  if (time_ == nullptr)
    return tid{rev_.value() + (uint64_t{1'000'000} << 10)};
  const auto wanted = tid::from_time(time_->wall_now(), clock_id);
  return wanted > rev_ ? wanted : tid{rev_.value() + 1};
}

commit_draft test_repo::draft() {
  commit_draft out;
  out.seq = ++seq_;
  if (committed_) {
    out.since = rev_;
    out.prev_data = data_;
  }
  out.ops = std::exchange(waiting_, {});
  std::unordered_set<cid> in_slice;
  const auto source = [this](const cid& id) {
    return find_node(id);
  };
  auto tree = mst::tree::load(data_, source).value();
  std::vector<commit_op> ops;
  for (const auto& op : out.ops) {
    if (op.action == op_action::remove)
      tree.remove(op.path).value();
    else
      tree.put(op.path, op.id).value();
    ops.push_back({op.action, op.path, op.id, op.prev});
    if (const auto body = bodies_.find(op.id);
        body != bodies_.end() && in_slice.insert(op.id).second)
      out.blocks.emplace_back(*body);
  }
  const auto add_node = [&](const cid& id) {
    if (in_slice.insert(id).second)
      out.blocks.emplace_back(id, nodes_.at(id));
  };
  const auto before = data_;
  data_ = tree
            .root([&](const cid& id, bytes_view block) {
              nodes_[id].assign(block.begin(), block.end());
              add_node(id);
            })
            .value();
  if (!committed_)
    add_node(data_);
  // Adds the nodes that a verifier will read.
  [[maybe_unused]] const auto held
    = mst::check_inversion(data_, before, ops, [&](const cid& id) {
        if (nodes_.contains(id))
          add_node(id);
        return find_node(id);
      });
  assert(held);
  rev_ = next_rev();
  committed_ = true;
  out.object = object();
  return out;
}

bytes test_repo::commit() {
  const auto made = draft();
  return made.encode(made.sign(key_));
}

bytes test_repo::commit_block() const {
  return encode_signed_commit(object(), key_);
}

std::vector<named_block> test_repo::blocks() const {
  std::vector<named_block> out;
  std::vector<mst::leaf> leaves;
  for (const auto& [path, id] : records_)
    leaves.push_back({path, id});
  mst::root_of(leaves, [&](const cid& id, bytes_view block) {
    out.emplace_back(id, bytes{block.begin(), block.end()});
  });
  std::unordered_set<cid> seen;
  for (const auto& [path, id] : records_)
    if (const auto body = bodies_.find(id);
        body != bodies_.end() && seen.insert(id).second)
      out.emplace_back(*body);
  return out;
}

bytes test_repo::export_car() const {
  const auto commit = commit_block();
  std::vector<named_block> all{{cid::of_dag_cbor(commit), commit}};
  for (auto& x : blocks())
    all.push_back(std::move(x));
  return make_car(all.front().first, all);
}

bytes test_repo::sync_frame(int64_t seq) const {
  const auto commit = commit_block();
  const auto id = cid::of_dag_cbor(commit);
  const auto car = make_car(id, {{id, commit}});
  const auto time = frame_time_of(rev_.time());
  sync_event out;
  out.seq = seq;
  out.repo = did_;
  out.time = time;
  out.rev = rev_;
  out.blocks = car;
  return encode_frame(out);
}

} // namespace weir::tests
