#include "actors/support/store_readers.hpp"

#include "actors/support/limits.hpp"
#include "messages/backfill.hpp"
#include "messages/consumer.hpp"
#include "messages/identity.hpp"
#include "storage/log/log_reader.hpp"
#include "storage/tables/collection_table.hpp"
#include "storage/tables/head_cursor.hpp"
#include "storage/tables/identity_table.hpp"
#include "storage/tables/limits.hpp"

namespace weir {

result<store_readers::repo_rows>
store_readers::load_repo(const atproto::did& repo) const {
  auto state = storage::repo_table{db, names}.load(repo);
  if (!state)
    return state.error();
  return repo_rows{std::move(state->row), std::move(state->chain),
                   state->member ? std::move(state->member->collections)
                                 : std::vector<std::string>{}};
}

result<std::optional<storage::repo_row>>
store_readers::load_row(const atproto::did& repo) const {
  return storage::repo_table{db, names}.row(repo);
}

repo_buffer_page store_readers::read_buffer(const atproto::did& repo,
                                            uint64_t after) const {
  auto page = storage::repo_table{db, names}.buffered(repo, after);
  const auto end = !page || page->size() < limits::repo_coalesced_commits_max;
  return {std::move(page), end};
}

result<std::optional<storage::identity_row>>
store_readers::load_identity(const atproto::did& repo) const {
  return storage::load_identity(db, repo);
}

result<export_stored> store_readers::load_export(size_t names_max) const {
  auto place = storage::load_export_place(db);
  if (!place)
    return place.error();
  auto first = storage::list_exported(db, names_max);
  if (!first)
    return first.error();
  return export_stored{std::move(*place), std::move(*first)};
}

result<std::optional<storage::identity_row>>
store_readers::load_exported(const atproto::did& repo) const {
  return storage::load_exported(db, repo);
}

log_page store_readers::read_log(storage::op_id after, storage::op_id durable,
                                 storage::op_id current_before) const {
  storage::log_page page;
  page.current_before = current_before;
  return {
    storage::log_reader{db, names, key_partition}.read(after, durable, page)};
}

did_page store_readers::read_did(const atproto::did& repo, bool facts,
                                 storage::op_id after, storage::op_id through,
                                 storage::log_page page) const {
  did_page out{repo, facts, after, through};
  const auto rows = load_repo(repo);
  if (!rows) {
    out.entries = rows.error();
    return out;
  }
  if (rows->chain == nullptr)
    return out;
  auto chain = *rows->chain;
  if (facts)
    std::erase_if(chain.streams, [](const auto& x) {
      return x.scope != storage::identity_scope
             && x.scope != storage::account_scope;
    });
  page.bytes_max = limits::consumer_did_page_bytes_max;
  out.entries = storage::log_reader{db, names, key_partition}.read_repo(
    repo, chain, after, through, page);
  out.end = !out.entries || out.entries->empty()
            || out.entries->back()->last() >= through;
  return out;
}

heads_page store_readers::read_heads(const atproto::did& repo,
                                     const storage::chain_row& chain,
                                     const std::string& after) const {
  heads_page out;
  storage::head_cursor cursor{db, names, key_partition, repo, chain};
  if (!after.empty()) {
    const auto parts = atproto::split_path(after);
    cursor.seek_after(parts.collection, parts.rkey);
  }
  auto heads = cursor.next();
  if (!heads) {
    out.heads = heads.error();
    return out;
  }
  out.end = heads->size() < limits::heads_page_max;
  out.heads->reserve(heads->size());
  for (const auto& head : *heads)
    out.heads->push_back({head.path(), head.head.id});
  return out;
}

} // namespace weir
