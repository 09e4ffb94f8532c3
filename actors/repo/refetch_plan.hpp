#pragma once

#include "actors/repo/limits.hpp"
#include "actors/repo/repo_types.hpp"
#include "actors/support/limits.hpp"
#include "storage/format/repo_row.hpp"

#include <algorithm>

namespace weir::actors {

/// Decides when a repo that falls out of sync again and again is fetched.
class refetch_plan {
public:
  /// A fetch was made, or is wanted before its back-off is over.
  void fetched(steady_time now) {
    times_.push_back(now);
    if (times_.size() > limits::refetch_burst_max)
      times_.pop_front();
  }

  /// The next fetch must not begin before this time, which may be past.
  steady_time due() const {
    return times_.size() < limits::refetch_burst_max
             ? steady_time{}
             : times_.front() + limits::refetch_pause;
  }

  // -- gaps -------------------------------------------------------------------

  /// An event was dropped that may have been valid. The repo goes on until its
  /// fetch is due, which is later each time: garbage in the name of the repo
  /// must not cause endless fetches.
  void open_gap(steady_time now) {
    if (gap_due_)
      return;
    if (now - last_gap_ > 2 * limits::gap_pause_max)
      pause_ = {};
    gap_due_ = std::max(now, last_gap_ + pause_);
  }

  /// The open gap leads to a fetch now, and the next gap to a later one.
  void spend_gap(steady_time now) noexcept {
    gap_due_.reset();
    last_gap_ = now;
    pause_ = std::clamp<std::chrono::microseconds>(
      2 * pause_, limits::gap_pause_min, limits::gap_pause_max);
  }

  /// The next event followed on the copy, so nothing is missing.
  void close_gap() noexcept { gap_due_.reset(); }

  /// The time at which the open gap leads to a fetch.
  const std::optional<steady_time>& gap_due() const noexcept {
    return gap_due_;
  }

  // -- what listings said -----------------------------------------------------

  /// In every try, the host served an older rev than this listed one.
  void disprove(atproto::tid rev, steady_time now) noexcept {
    disproved_ = rev;
    disproved_until_ = now + limits::disproved_rev_memory;
  }

  /// Whether listings that name this rev are still ignored.
  bool is_disproved(atproto::tid rev, steady_time now) const noexcept {
    return rev == disproved_ && now < disproved_until_;
  }

private:
  atproto::tid disproved_;
  steady_time disproved_until_;
  lazy_deque<steady_time> times_; ///< When the last fetches ended.
  std::optional<steady_time> gap_due_;
  steady_time last_gap_; ///< The time at which the last gap led to a fetch.
  std::chrono::microseconds pause_{};
};

} // namespace weir::actors

/// The rev that the next fetch must reach. It is in the row, so that even after
/// a crash no older copy counts as a success (protocol-coverage.md 5.3).
namespace weir::actors::needed_rev {

/// An event of this rev was not applied.
/// @param proved The account signed the rev, rather than a listing naming it.
inline void require(storage::repo_row& row, atproto::tid rev, bool proved) {
  auto& known = proved ? row.missed_rev : row.listed_rev;
  known = std::max(known, rev);
}

/// After `limits::listed_rev_tries_max` failures, an older rev is accepted
/// against a listing, but never against a signature.
inline atproto::tid least(const storage::repo_row& row) {
  return row.retry_count < limits::listed_rev_tries_max
           ? std::max(row.missed_rev, row.listed_rev)
           : row.missed_rev;
}

/// A fetch reached the rev, or the content of the repo was erased.
inline void settle(storage::repo_row& row) {
  row.missed_rev = row.listed_rev = {};
}

} // namespace weir::actors::needed_rev
