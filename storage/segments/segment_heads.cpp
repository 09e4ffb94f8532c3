#include "storage/segments/segment_heads.hpp"

#include "atproto/sha256.hpp"
#include "storage/format/hashes.hpp"
#include "storage/format/values.hpp"

#include <algorithm>

namespace weir::storage {

namespace {

/// A DID has no zero byte.
short_hash key_of(const atproto::did& repo, std::string_view scope) {
  std::string text = repo.str();
  text.push_back('\0');
  text.append(scope);
  const auto digest = atproto::sha256(as_bytes(text));
  short_hash out{};
  std::copy_n(digest.begin(), out.size(), out.begin());
  return out;
}

error contradicts(op_id first, const segment_transaction& x,
                  const std::string& scope) {
  return fail(ec::storage_failure,
              "operation " + std::to_string(first) + " does not continue the "
                + "stream " + x.repo.str() + " " + scope
                + ", or has other hashes than it derives");
}

} // namespace

const segment_head* segment_heads::find(const atproto::did& repo,
                                        std::string_view scope) const {
  const auto i = heads_.find(key_of(repo, scope));
  return i == heads_.end() ? nullptr : &i->second;
}

bool segment_heads::fits(const segment_transaction& x) const {
  const auto fresh = std::ranges::count_if(x.streams, [&](const auto& stream) {
    return find(x.repo, stream.scope) == nullptr;
  });
  return heads_.size() + static_cast<size_t>(fresh) <= streams_max_;
}

result<void> segment_heads::advance(op_id first,
                                    const segment_transaction& x) {
  if (!fits(x))
    return fail(ec::limit_reached, "more than " + std::to_string(streams_max_)
                                     + " streams in one directory of segments");
  const auto hashes = hashes_of(x);
  for (uint32_t i = 0; i < x.streams.size(); ++i) {
    const auto& stream = x.streams[i];
    auto& head = heads_[key_of(x.repo, stream.scope)];
    const bool begins = head.next_index == 0;
    const bool follows = begins ? !stream.before
                                : stream.before == head.operation;
    if (stream.index != head.next_index || stream.previous != head.hash
        || !follows)
      return contradicts(first, x, stream.scope);
    for (size_t j = 0; j < x.ops.size(); ++j)
      if (x.ops[j].stream == i)
        head = {hashes[j].index + 1, hashes[j].stream, hashes[j].operation,
                begins ? first : head.first, first};
    if (stream.hash != head.hash || head.last != first)
      return contradicts(first, x, stream.scope);
  }
  return {};
}

std::vector<segment_hashes> hashes_of(const segment_transaction& x) {
  struct place {
    uint64_t next;
    std::optional<atproto::digest> before;
    atproto::digest hash;
  };
  std::vector<place> at;
  for (const auto& stream : x.streams)
    at.push_back({stream.index, stream.before, stream.previous});
  std::vector<segment_hashes> out;
  log_hasher hasher;
  for (const auto& op : x.ops) {
    auto& of = at[op.stream];
    const auto& scope = x.streams[op.stream].scope;
    const auto operation = hasher.operation(
      {x.repo.str(), x.rev, scope, op.rkey, op.action, &op.id,
       origin_of(scope, x.from, x.job, of.next)});
    of.hash = hasher.stream({x.repo.str(), scope, main_branch, of.next, 0,
                             operation, of.hash, x.time_us / 1000, op.action,
                             op.rkey, &op.id});
    out.push_back({of.next++, operation, of.before, of.hash});
    of.before = operation;
  }
  return out;
}

} // namespace weir::storage
