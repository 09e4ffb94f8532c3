#pragma once

#include "actors/support/completeness.hpp"

#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

namespace weir::actors {

/// Number of complete repos of a group, and the terms that the others lack.
struct completeness_count {
  uint64_t active = 0;   ///< Active accounts; others are not counted at all.
  uint64_t complete = 0; ///< Of those.
  /// In the order of `completeness::all_terms`; a repo may lack several.
  std::array<uint64_t, completeness::all_terms.size()> without{};
  /// The incomplete repo whose last full fetch is the oldest; empty when there
  /// is none.
  atproto::did oldest;
  int64_t oldest_sync = 0; ///< Unix seconds; 0: it was never fetched.

  void add(const atproto::did& repo, int64_t last_sync,
           const completeness::terms& x);
  void add(const completeness_count& x);
};

/// The result of one pass over all rows, for the node and for each host.
/// Without clock or store. One thread at a time.
///
/// # Limits
/// Strangers choose the names of hosts, so only
/// `limits::completeness_hosts_max` hosts are counted separately. When there
/// were twice as many, those with fewer accounts and all later ones count as
/// `others`.
class completeness_census {
public:
  using by_host = std::map<std::string, completeness_count, std::less<>>;

  void add(const atproto::did& repo, const storage::repo_row& row,
           const completeness::terms& x);

  /// Called when all rows were added.
  void close();

  const completeness_count& all() const noexcept { return all_; }
  const by_host& hosts() const noexcept { return hosts_; }
  const completeness_count& others() const noexcept { return others_; }

private:
  void keep_largest();

  completeness_count all_;
  by_host hosts_;
  completeness_count others_;
  bool is_full_ = false;
};

/// The last census and its end. SUPERVISOR writes it, the API reads it. Any
/// thread.
class completeness_board {
public:
  struct entry {
    std::shared_ptr<const completeness_census> census; ///< Null: none yet.
    wall_time at{};
  };

  void put(entry x);
  entry last() const;

private:
  mutable std::mutex mutex_;
  entry last_;
};

} // namespace weir::actors
