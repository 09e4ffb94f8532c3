#include "actors/support/all_stores.hpp"

#include "actors/support/row_work.hpp"
#include "storage/tables/collection_table.hpp"

#include <array>
#include <limits>

namespace weir::actors {

namespace {

using storage::repo_status;

/// Statuses that ask for a fetch, in the order of a scan.
constexpr std::array work_statuses{repo_status::pending, repo_status::syncing,
                                   repo_status::desync, repo_status::error};

constexpr auto whenever = std::numeric_limits<uint64_t>::max();

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

void note_lost(scan_page& out, const atproto::did& repo,
               const storage::repo_row& row) {
  if (is_lost(row))
    out.lost.push_back({repo, row.pds, row.not_found_at});
}

/// @param more Where to go on when all statuses were read: quiet work.
result<scan_page> scan_statuses(const all_stores& stores, scan_place place,
                                size_t limit, bool more) {
  scan_page out;
  const auto status = work_statuses[place.status];
  auto page
    = stores.with_status(status, storage::never_due - 1, place.after, limit);
  if (!page)
    return page.error();
  for (auto& found : *page) {
    auto row = stores.of(found.repo).load_row(found.repo);
    if (!row)
      return row.error();
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

/// Repos with quiet work are woken like repos that are out of sync: each
/// decides by itself what to do.
result<scan_page> scan_quiet_work(const all_stores& stores, scan_place place,
                                  size_t limit, uint32_t filter,
                                  const upstream_board& followed) {
  scan_page out;
  auto page = stores.page(place.after.repo, limit);
  if (!page)
    return page.error();
  for (auto& [repo, row] : *page) {
    if (!asks_for_fetch(row))
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

} // namespace

result<std::vector<storage::due_repo>>
all_stores::with_status(repo_status status, uint64_t due_max,
                        const storage::due_repo& after, size_t limit) const {
  return storage::repos_with_status(databases_, status, due_max, after, limit);
}

result<scan_page> all_stores::scan_work(const std::string& after, size_t limit,
                                        uint32_t filter,
                                        const upstream_board& followed) const {
  auto place = parse_place(after);
  return place.status < work_statuses.size()
           ? scan_statuses(*this, place, limit, filter != 0)
           : scan_quiet_work(*this, place, limit, filter, followed);
}

result<std::vector<all_stores::listed_row>>
all_stores::list_repos(const atproto::did& after, size_t limit) const {
  auto rows = page(after, limit);
  if (!rows)
    return rows.error();
  std::vector<listed_row> out;
  out.reserve(rows->size());
  for (auto& [repo, row] : *rows) {
    auto known = of(repo).load_repo(repo);
    if (!known)
      return known.error();
    out.push_back({repo, std::move(row), std::move(known->chain),
                   std::move(known->collections)});
  }
  return out;
}

result<all_stores::page_of<atproto::did>>
all_stores::list_ahead(const storage::due_repo& after, size_t limit) const {
  const auto found = list_status(repo_status::error, after, limit);
  if (!found)
    return found.error();
  page_of<atproto::did> out{{}, found->last, found->end};
  for (const auto& x : found->repos)
    if (is_ahead_of_clock(x.row))
      out.repos.push_back(x.repo);
  return out;
}

result<all_stores::page_of<all_stores::listed_row>>
all_stores::list_status(repo_status status, const storage::due_repo& after,
                        size_t limit) const {
  auto found = with_status(status, whenever, after, limit);
  if (!found)
    return found.error();
  page_of<listed_row> out;
  out.end = found->size() < limit;
  for (const auto& x : *found) {
    auto known = of(x.repo).load_repo(x.repo);
    if (!known)
      return known.error();
    if (known->row)
      out.repos.push_back({x.repo, std::move(*known->row),
                           std::move(known->chain),
                           std::move(known->collections)});
  }
  if (!found->empty())
    out.last = found->back();
  return out;
}

} // namespace weir::actors
