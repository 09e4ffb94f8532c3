#pragma once

#include "storage/disk/database.hpp"
#include "storage/format/values.hpp"
#include "storage/tables/limits.hpp"

#include <span>

namespace weir::storage {

/// A place in the status index.
struct due_repo {
  uint64_t due = 0; ///< Unix seconds; 0 for at once, or `never_due`.
  atproto::did repo;
};

/// Repos of one status in the order of their due times, up to `due_max`, those
/// after `after` (a default one means from the start), of all these stores
/// together.
result<std::vector<due_repo>>
repos_with_status(std::span<const database* const> stores, repo_status status,
                  uint64_t due_max, const due_repo& after = {},
                  size_t limit = limits::repos_page_max);

/// Known repos in the order of DIDs, those after `after` (empty means from the
/// start), of all these stores together.
result<std::vector<std::pair<atproto::did, repo_row>>>
page_of_repos(std::span<const database* const> stores,
              const atproto::did& after, size_t limit = limits::repos_page_max);

/// Reads the rows of repos; the committer writes them.
///
/// # Ownership and threads
/// Borrows the database and names. Any number of threads may read at the same
/// time.
class repo_table {
public:
  repo_table(const database& db, const collection_names& names)
    : db_(db), names_(names) {}

  result<repo_state> load(const atproto::did& repo) const;

  /// Reads only the row.
  result<std::optional<repo_row>> row(const atproto::did& repo) const;

  /// Frames that wait on disk, in the order in which they came, those after the
  /// one with the number `after` (0 means from the start).
  result<std::vector<waiting_on_disk>>
  buffered(const atproto::did& repo, uint64_t after,
           size_t limit = limits::repo_coalesced_commits_max) const;

private:
  const database& db_;
  const collection_names& names_;
};

} // namespace weir::storage
