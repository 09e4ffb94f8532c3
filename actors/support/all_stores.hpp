#pragma once

#include "actors/support/placement.hpp"
#include "actors/support/store_readers.hpp"
#include "actors/support/upstream_view.hpp"

#include <vector>

namespace weir::actors {

/// Whether a repo whose status asks for no fetch is to be woken at start: its
/// identity is due, an event of it was lost, it was indexed under another filter
/// than `filter`, or a relay objects to it that is followed no more.
bool has_quiet_work(const storage::repo_row& row, uint32_t filter,
                    const upstream_board& followed);

/// The stores of a node, one for each partition, and the repos in them as if they
/// stood in one table: in order of DIDs, or of due times, wherever they live.
///
/// # Ownership and threads
/// Borrows the stores, which outlive all actors. Reads as `store_readers`: on
/// threads of READERs, whichever they belong to.
class all_stores {
public:
  all_stores() = default;

  /// @param each In the order of partitions.
  all_stores(const placement& places, std::vector<const store_readers*> each);

  const std::vector<const store_readers*>& each() const noexcept {
    return each_;
  }

  /// The one that has a repo.
  const store_readers& of(const atproto::did& repo) const {
    return *each_[places_.partition_of(repo)];
  }

  /// Rows in order of DIDs, those after `after`, one page.
  result<std::vector<std::pair<atproto::did, storage::repo_row>>>
  page(const atproto::did& after, size_t limit = limits::repos_page_max) const;

  /// Repos of one status in order of due times up to `due_max`, those after
  /// `after`, one page.
  result<std::vector<storage::due_repo>>
  with_status(storage::repo_status status, uint64_t due_max,
              const storage::due_repo& after, size_t limit) const;

  /// Repos whose status asks for work, one page of at most `limit`; `after` is
  /// opaque. Those whose account is not active are not among them.
  /// @param filter The generation in force: then those, too, that have quiet
  ///        work under it, which reads the rows of all repos. 0 = not those.
  scan_page scan_work(const std::string& after, size_t limit, uint32_t filter,
                      const upstream_board& followed) const;

  /// Tracked repos in order of DID, one page.
  struct listed_row {
    atproto::did repo;
    storage::repo_row row;
    std::shared_ptr<const storage::chain_row> chain;
    std::vector<std::string> collections{};
  };
  result<std::vector<listed_row>> list_repos(const atproto::did& after,
                                             size_t limit) const;

  /// Repos that wait because a rev was beyond our clock.
  struct ahead_page {
    std::vector<atproto::did> repos;
    storage::due_repo last; ///< Behind this one the next page begins.
    bool end = true;
  };
  result<ahead_page> list_ahead(const storage::due_repo& after,
                                size_t limit) const;

  /// Repos of one status, those due first first, one page.
  struct status_page {
    std::vector<listed_row> repos;
    storage::due_repo last; ///< Behind this one the next page begins.
    bool end = true;
  };
  result<status_page> list_status(storage::repo_status status,
                                  const storage::due_repo& after,
                                  size_t limit) const;

private:
  placement places_;
  std::vector<const store_readers*> each_;
  std::vector<const storage::database*> databases_; ///< Of the same.
};

} // namespace weir::actors
