#pragma once

#include "actors/support/completeness.hpp"
#include "actors/support/limits.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace weir::actors {

/// Number of complete repos of a group, and the terms that the others lack.
struct completeness_count {
  uint64_t active = 0;   ///< Active accounts; others are not counted at all.
  uint64_t complete = 0; ///< Active accounts whose copy is complete.
  /// Counts in the order of `completeness::all_terms`; a repo may lack several.
  std::array<uint64_t, completeness::all_terms.size()> without{};
  /// The incomplete repo whose last full fetch is the oldest; empty when there
  /// is none.
  atproto::did oldest;
  int64_t oldest_sync = 0; ///< Unix seconds; 0: it was never fetched.

  void add(const atproto::did& repo, int64_t last_sync,
                  const completeness::terms& x) {
    ++active;
    if (x.complete()) {
      ++complete;
      return;
    }
    for (size_t i = 0; i < without.size(); ++i)
      without[i] += x.*completeness::all_terms[i].holds ? 0u : 1u;
    if (oldest.empty() || last_sync < oldest_sync) {
      oldest = repo;
      oldest_sync = last_sync;
    }
  }

  void add(const completeness_count& x) {
    active += x.active;
    complete += x.complete;
    for (size_t i = 0; i < without.size(); ++i)
      without[i] += x.without[i];
    if (!x.oldest.empty() && (oldest.empty() || x.oldest_sync < oldest_sync)) {
      oldest = x.oldest;
      oldest_sync = x.oldest_sync;
    }
  }
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
           const completeness::terms& x) {
    if (!completeness::counts(row))
      return;
    all_.add(repo, row.last_sync, x);
    const auto is_counted = !is_full_ || hosts_.contains(row.pds);
    auto& count = is_counted ? hosts_[row.pds] : others_;
    count.add(repo, row.last_sync, x);
    if (!is_full_ && hosts_.size() >= 2 * limits::completeness_hosts_max) {
      is_full_ = true;
      keep_largest();
    }
  }

  /// Called when all rows were added.
  void close() { keep_largest(); }

  const completeness_count& all() const noexcept { return all_; }
  const by_host& hosts() const noexcept { return hosts_; }
  const completeness_count& others() const noexcept { return others_; }

private:
  void keep_largest() {
    if (hosts_.size() <= limits::completeness_hosts_max)
      return;
    std::vector<std::pair<uint64_t, std::string_view>> sizes;
    sizes.reserve(hosts_.size());
    for (const auto& [host, x] : hosts_)
      sizes.emplace_back(x.active, host);
    const auto end = sizes.begin() + limits::completeness_hosts_max;
    std::nth_element(sizes.begin(), end, sizes.end(), std::greater<>{});
    for (auto i = end; i != sizes.end(); ++i) {
      const auto host = hosts_.find(i->second);
      others_.add(host->second);
      hosts_.erase(host);
    }
  }

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

  void put(entry x) {
    const std::lock_guard guard{mutex_};
    last_ = std::move(x);
  }

  entry last() const {
    const std::lock_guard guard{mutex_};
    return last_;
  }

private:
  mutable std::mutex mutex_;
  entry last_;
};

} // namespace weir::actors
