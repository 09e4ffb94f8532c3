#include "storage/tables/chain_table.hpp"

#include "storage/tables/row_access.hpp"

#include <algorithm>

namespace weir::storage {

namespace {

error unfit(const atproto::did& repo) {
  return fail(ec::storage_failure, "the rows of the chain of " + repo.str()
                                     + " do not fit together");
}

/// Reads the chain and its streams in one scan, so that they are of one moment.
result<chain_row> scan_chain(const database& db, const collection_names& names,
                             const atproto::did& repo) {
  stored_chain out;
  uint64_t apart = 0;
  uint64_t operations = 0;
  auto ok = each_value<chain_key>(
    db, range_of<chain_key>(repo),
    [&](const chain_key& key, std::string_view value) -> result<bool> {
      if (key.scope == 0) {
        auto stored = decode_chain(value, names);
        if (!stored)
          return stored.error();
        out = std::move(*stored);
        return true;
      }
      const auto head = decode_value<stream_head_row>(value);
      if (!head)
        return head.error();
      auto name = scope_name(names, key.scope);
      if (!name || key.branch != main_branch)
        return unfit(repo);
      out.chain.streams.push_back(
        {std::move(*name), head->next_index, head->hash, head->records, true});
      ++apart;
      operations += head->next_index;
      return true;
    });
  if (!ok)
    return ok.error();
  if (apart != out.apart || operations != out.apart_operations)
    return unfit(repo);
  std::sort(out.chain.streams.begin(), out.chain.streams.end(),
            [](const stream_head& x, const stream_head& y) {
              return x.scope < y.scope;
            });
  return std::move(out.chain);
}

} // namespace

result<std::shared_ptr<const chain_row>>
load_chain(const database& db, const collection_names& names,
           const atproto::did& repo) {
  using chain_ptr = std::shared_ptr<const chain_row>;
  const auto value = db.get(encode_key(chain_key{repo}));
  if (!value)
    return value.error();
  if (!*value)
    return chain_ptr{};
  auto stored = decode_chain(**value, names);
  if (!stored)
    return stored.error();
  if (stored->apart == 0)
    return chain_ptr{std::make_shared<chain_row>(std::move(stored->chain))};
  auto chain = scan_chain(db, names, repo);
  if (!chain)
    return chain.error();
  return chain_ptr{std::make_shared<chain_row>(std::move(*chain))};
}

result<void> put_chain(const atproto::did& repo, const chain_row& x,
                       const chain_row* before, const collection_names& names,
                       write_batch& batch) {
  const auto value = encode_chain(x, names);
  if (!value)
    return value.error();
  batch.put(encode_key(chain_key{repo}), *value);
  for (const auto& stream : x.streams) {
    if (!stream.apart)
      continue;
    const auto* old = before != nullptr ? before->find(stream.scope) : nullptr;
    if (old != nullptr && old->next_index == stream.next_index)
      continue;
    const auto id = scope_id(names, stream.scope);
    if (!id)
      return fail(ec::not_found, "no id for the scope " + stream.scope);
    batch.put(encode_key(chain_key{repo, *id, main_branch}),
              encode_value(stream_head_row{stream.next_index, stream.hash,
                                           stream.records}));
  }
  return {};
}

} // namespace weir::storage
