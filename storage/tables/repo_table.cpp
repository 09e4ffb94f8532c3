#include "storage/tables/repo_table.hpp"

#include "storage/disk/merged_reader.hpp"
#include "storage/tables/chain_table.hpp"
#include "storage/tables/row_access.hpp"

namespace weir::storage {

result<repo_state> repo_table::load(const atproto::did& repo) const {
  repo_state out;
  auto row = load_row<repo_row>(db_, repo_key{repo});
  if (!row)
    return row.error();
  out.row = std::move(*row);
  auto chain = load_chain(db_, names_, repo);
  if (!chain)
    return chain.error();
  out.chain = std::move(*chain);
  if (!out.row)
    return out;
  auto member = load_row<member_row>(db_, member_key{default_dataset, repo});
  if (!member)
    return member.error();
  out.member = std::move(*member);
  return out;
}

result<std::optional<repo_row>>
repo_table::row(const atproto::did& repo) const {
  return load_row<repo_row>(db_, repo_key{repo});
}

result<std::vector<due_repo>>
repos_with_status(std::span<const database* const> stores, repo_status status,
                  uint64_t due_max, const due_repo& after, size_t limit) {
  auto range = range_of<repo_by_status_key>(status);
  if (!after.repo.empty())
    range = after_key(std::move(range),
                      repo_by_status_key{status, after.due, after.repo});
  std::vector<due_repo> out;
  if (limit == 0)
    return out;
  auto ok = each_value<repo_by_status_key>(
    merged_reader{stores, range},
    [&](repo_by_status_key& key, std::string_view) {
      if (key.due > due_max)
        return false;
      out.push_back({key.due, std::move(key.repo)});
      return out.size() < limit;
    });
  if (!ok)
    return ok.error();
  return out;
}

result<std::vector<std::pair<atproto::did, repo_row>>>
page_of_repos(std::span<const database* const> stores,
              const atproto::did& after, size_t limit) {
  auto range = range_of<repo_key>();
  if (!after.empty())
    range = after_key(std::move(range), repo_key{after});
  return first_rows<repo_row, repo_key>(
    merged_reader{stores, range}, limit, [](repo_key& key, repo_row& row) {
      return std::pair{std::move(key.repo), std::move(row)};
    });
}

result<std::vector<waiting_on_disk>>
repo_table::buffered(const atproto::did& repo, uint64_t after,
                     size_t limit) const {
  auto range = range_of<sync_buffer_key>(repo);
  if (after != 0)
    range = after_key(std::move(range), sync_buffer_key{repo, after});
  return first_rows<waiting_row, sync_buffer_key>(
    db_.scan(range), limit, [&repo](sync_buffer_key& key, waiting_row& row) {
      waiting_on_disk out;
      out.number = key.number;
      out.frame.at = row.at;
      out.frame.first_cursor = row.first_cursor;
      out.frame.relay = row.relay;
      out.frame.repo = repo;
      out.frame.bytes = shared_bytes{std::move(row.frame.value)};
      return out;
    });
}

} // namespace weir::storage
