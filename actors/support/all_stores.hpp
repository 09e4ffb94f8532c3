#pragma once

#include "actors/support/placement.hpp"
#include "actors/support/store_readers.hpp"
#include "actors/support/upstream_view.hpp"
#include "messages/backfill.hpp"

#include <vector>

namespace weir::actors {

/// The stores of a node, one for each partition, and their repos as if in one
/// table: in the order of DIDs or of due times, whatever their partition.
///
/// # Ownership and threads
/// Borrows the stores, which outlive all actors. Reads like `store_readers`: on
/// threads of READERs of any partition.
class all_stores {
public:
  all_stores() = default;

  /// @param each In the order of partitions.
  all_stores(const placement& places, std::vector<const store_readers*> each)
    : places_(places), each_(std::move(each)) {
    for (const auto* x : each_)
      databases_.push_back(&x->db);
  }

  const std::vector<const store_readers*>& each() const noexcept {
    return each_;
  }

  const store_readers& of(const atproto::did& repo) const {
    return *each_[places_.partition_of(repo)];
  }

  /// One page of rows in the order of DIDs, those after `after`.
  result<std::vector<std::pair<atproto::did, storage::repo_row>>>
  page(const atproto::did& after, size_t limit = limits::repos_page_max) const {
    return storage::page_of_repos(databases_, after, limit);
  }

  /// One page of the repos with this status in the order of due times up to
  /// `due_max`, those after `after`.
  result<std::vector<storage::due_repo>>
  with_status(storage::repo_status status, uint64_t due_max,
              const storage::due_repo& after, size_t limit) const;

  /// One page of at most `limit` repos whose status asks for work. `after` is
  /// opaque. Repos of inactive accounts are left out.
  /// @param filter The current filter generation: repos with quiet work under
  /// it are included, which needs the rows of all repos. 0: they are left out.
  result<scan_page> scan_work(const std::string& after, size_t limit,
                              uint32_t filter,
                              const upstream_board& followed) const;

  /// One page of tracked repos in the order of DIDs.
  struct listed_row {
    atproto::did repo;
    storage::repo_row row;
    std::shared_ptr<const storage::chain_row> chain;
    std::vector<std::string> collections{};
  };
  result<std::vector<listed_row>> list_repos(const atproto::did& after,
                                             size_t limit) const;

  template <class Repo>
  struct page_of {
    std::vector<Repo> repos;
    storage::due_repo last; ///< The next page begins after this one.
    bool end = true;
  };

  /// One page of repos that wait because a rev was later than our clock.
  result<page_of<atproto::did>> list_ahead(const storage::due_repo& after,
                                           size_t limit) const;

  /// One page of the repos with this status, the earliest due first.
  result<page_of<listed_row>> list_status(storage::repo_status status,
                                          const storage::due_repo& after,
                                          size_t limit) const;

private:
  placement places_;
  std::vector<const store_readers*> each_;
  std::vector<const storage::database*> databases_; ///< What `each_` reads.
};

} // namespace weir::actors
