#include "actors/support/store_readers.hpp"

#include "actors/support/account_sources.hpp"
#include "actors/support/limits.hpp"
#include "storage/format/limits.hpp"
#include "storage/log/log_reader.hpp"
#include "storage/log/tail_cache.hpp"
#include "storage/tables/collection_table.hpp"
#include "storage/tables/head_cursor.hpp"
#include "storage/tables/identity_table.hpp"
#include "storage/tables/repo_table.hpp"

#include <array>
#include <limits>

namespace weir {

namespace {

using storage::repo_status;

/// Statuses that ask for a fetch, in the order of a scan.
constexpr std::array work_statuses{repo_status::pending, repo_status::syncing,
                                   repo_status::desync, repo_status::error};

/// The place of a scan as text: status index, due, DID.
struct scan_place {
  size_t status = 0;
  storage::due_repo after;
};

scan_place parse_place(const std::string& text) {
  scan_place out;
  const auto first = text.find(' ');
  const auto second = text.find(' ', first + 1);
  if (first == std::string::npos || second == std::string::npos)
    return out;
  out.status = std::stoul(text.substr(0, first));
  out.after.due = std::stoull(text.substr(first + 1, second - first - 1));
  out.after.repo = atproto::did::trusted(text.substr(second + 1));
  return out;
}

std::string to_text(const scan_place& x) {
  return std::to_string(x.status) + ' ' + std::to_string(x.after.due) + ' '
         + x.after.repo.str();
}

/// Nothing announces that its host is to be asked for the second time.
void note_lost(scan_page& out, const atproto::did& repo,
               const storage::repo_row& row) {
  if (row.not_found_at != 0 && !row.pds.empty())
    out.lost.push_back({repo, row.pds, row.not_found_at});
}

/// @param more What follows when all statuses were read: quiet work.
scan_page scan_statuses(const store_readers& store, scan_place place,
                        size_t limit, bool more) {
  scan_page out;
  const storage::repo_table table{store.db, store.names};
  const auto status = work_statuses[place.status];
  auto page
    = table.with_status(status, storage::never_due - 1, place.after, limit);
  if (!page) {
    out.failed = page.error();
    return out;
  }
  for (auto& found : *page) {
    auto row = table.row(found.repo);
    if (!row) {
      out.failed = row.error();
      return out;
    }
    if (*row)
      note_lost(out, found.repo, **row);
    out.repos.push_back({found.repo, status, static_cast<int64_t>(found.due),
                         *row ? std::move((*row)->pds) : std::string{}, false});
  }
  if (page->size() >= limit)
    place.after = page->back();
  else
    place = {place.status + 1, {}};
  out.next = to_text(place);
  out.end = place.status == work_statuses.size() && !more;
  return out;
}

/// Repos with quiet work, to be asked as if they were out of sync: each decides
/// for itself when it wakes.
scan_page scan_quiet_work(const storage::repo_table& table, scan_place place,
                          size_t limit, uint32_t filter,
                          const actors::upstream_board& followed) {
  scan_page out;
  auto page = table.page(place.after.repo, limit);
  if (!page) {
    out.failed = page.error();
    return out;
  }
  for (auto& [repo, row] : *page) {
    if (row.account != storage::account_status::active
        || row.status == repo_status::synced)
      note_lost(out, repo, row);
    if (has_quiet_work(row, filter, followed))
      out.repos.push_back({repo, repo_status::desync, 0, row.pds, true});
  }
  out.end = page->size() < limit;
  if (!out.end)
    place.after.repo = page->back().first;
  out.next = to_text(place);
  return out;
}

std::vector<std::string> collections_of(storage::repo_state& x) {
  return x.member ? std::move(x.member->collections)
                  : std::vector<std::string>{};
}

} // namespace

bool has_quiet_work(const storage::repo_row& row, uint32_t filter,
                    const actors::upstream_board& followed) {
  if (row.account != storage::account_status::active)
    return row.identity_due
           || actors::account_sources::has_strangers(row.words, followed);
  return row.status == repo_status::synced
         && (row.identity_due || row.gap || row.filter_generation != filter);
}

result<store_readers::repo_rows>
store_readers::load_repo(const atproto::did& repo) const {
  auto state = storage::repo_table{db, names}.load(repo);
  if (!state)
    return state.error();
  return repo_rows{std::move(state->row), std::move(state->chain),
                   collections_of(*state)};
}

repo_buffer_page store_readers::read_buffer(const atproto::did& repo,
                                            uint64_t after) const {
  repo_buffer_page out;
  auto page = storage::repo_table{db, names}.buffered(repo, after);
  if (!page) {
    out.failed = page.error();
    return out;
  }
  out.frames = std::move(*page);
  out.end = out.frames.size() < limits::repo_coalesced_commits_max;
  return out;
}

result<std::optional<storage::identity_row>>
store_readers::load_identity(const atproto::did& repo) const {
  return storage::load_identity(db, repo);
}

result<store_readers::export_state>
store_readers::load_export(size_t names_max) const {
  auto place = storage::load_export_place(db);
  if (!place)
    return place.error();
  auto first = storage::list_exported(db, names_max);
  if (!first)
    return first.error();
  return export_state{std::move(*place), std::move(*first)};
}

result<std::optional<storage::identity_row>>
store_readers::load_exported(const atproto::did& repo) const {
  return storage::load_exported(db, repo);
}

log_page store_readers::read_log(storage::op_id after,
                                 storage::op_id durable) const {
  log_page out;
  out.after = after;
  auto entries = storage::log_reader{db, names, partition}.read(after, durable);
  if (entries)
    out.entries = std::move(*entries);
  else
    out.failed = entries.error();
  return out;
}

did_page store_readers::read_did(const atproto::did& repo, bool facts,
                                 storage::op_id after, storage::op_id through,
                                 size_t ops_max) const {
  did_page out;
  out.repo = repo;
  out.facts = facts;
  out.after = after;
  out.through = through;
  const auto rows = load_repo(repo);
  if (!rows) {
    out.failed = rows.error();
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
  storage::log_page page;
  page.ops_max = ops_max;
  page.bytes_max = limits::consumer_did_page_bytes_max;
  auto entries = storage::log_reader{db, names, partition}.read_repo(
    repo, chain, after, through, page);
  if (!entries) {
    out.failed = entries.error();
    return out;
  }
  out.end = entries->empty() || entries->back()->last() >= through;
  out.entries = std::move(*entries);
  return out;
}

heads_page store_readers::read_heads(const atproto::did& repo,
                                     const storage::chain_row& chain,
                                     const std::string& after) const {
  heads_page out;
  storage::head_cursor cursor{db, names, partition, repo, chain};
  if (!after.empty()) {
    const auto parts = atproto::split_path(after);
    cursor.seek_after(parts.collection, parts.rkey);
  }
  auto heads = cursor.next();
  if (!heads) {
    out.failed = heads.error();
    return out;
  }
  out.end = heads->size() < limits::heads_page_max;
  out.heads.reserve(heads->size());
  for (const auto& head : *heads)
    out.heads.push_back({head.path(), head.head.id});
  return out;
}

scan_page
store_readers::scan_work(const std::string& after, size_t limit,
                         uint32_t filter,
                         const actors::upstream_board& followed) const {
  auto place = parse_place(after);
  return place.status < work_statuses.size()
           ? scan_statuses(*this, place, limit, filter != 0)
           : scan_quiet_work({db, names}, place, limit, filter, followed);
}

result<std::vector<store_readers::listed_row>>
store_readers::list_repos(const atproto::did& after, size_t limit) const {
  const storage::repo_table table{db, names};
  auto page = table.page(after, limit);
  if (!page)
    return page.error();
  std::vector<listed_row> out;
  out.reserve(page->size());
  for (auto& [repo, row] : *page) {
    auto state = table.load(repo);
    if (!state)
      return state.error();
    out.push_back({repo, std::move(row), std::move(state->chain),
                   collections_of(*state)});
  }
  return out;
}

result<store_readers::ahead_page>
store_readers::list_ahead(const storage::due_repo& after, size_t limit) const {
  const storage::repo_table table{db, names};
  auto page
    = table.with_status(storage::repo_status::error,
                        std::numeric_limits<uint64_t>::max(), after, limit);
  if (!page)
    return page.error();
  ahead_page out;
  out.end = page->size() < limit;
  for (const auto& found : *page) {
    auto state = table.load(found.repo);
    if (!state)
      return state.error();
    if (state->row && state->row->error.find("future_rev") != std::string::npos)
      out.repos.push_back(found.repo);
  }
  if (!page->empty())
    out.last = page->back();
  return out;
}

result<store_readers::status_page>
store_readers::list_status(storage::repo_status status,
                           const storage::due_repo& after,
                           size_t limit) const {
  const storage::repo_table table{db, names};
  auto page = table.with_status(status, std::numeric_limits<uint64_t>::max(),
                                after, limit);
  if (!page)
    return page.error();
  status_page out;
  out.end = page->size() < limit;
  for (const auto& found : *page) {
    auto state = table.load(found.repo);
    if (!state)
      return state.error();
    if (state->row)
      out.repos.push_back(
        {found.repo, std::move(*state->row), std::move(state->chain),
         collections_of(*state)});
  }
  if (!page->empty())
    out.last = page->back();
  return out;
}

} // namespace weir
