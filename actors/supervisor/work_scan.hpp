#pragma once

#include "actors/supervisor/limits.hpp"
#include "base/clock.hpp"
#include "storage/tables/limits.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace weir::actors {

/// How long a repo waits for the time that its row names in Unix seconds. Rows
/// hold wall time so that it outlives the process; from here on the wait is
/// monotonic. A time beyond the longest back-off was written while the clock
/// was wrong. It counts as now, so that a wrong clock never stops retries.
inline std::chrono::seconds wait_of(int64_t due, wall_time now,
                                    std::chrono::seconds longest) noexcept {
  const auto seconds = now.seconds();
  if (due <= seconds || due - seconds > longest.count())
    return std::chrono::seconds{0};
  return std::chrono::seconds{due - seconds};
}

/// Decides when the statuses in the store are read, and from which row on: at
/// the start, and again for repos that did not fit into the queue.
///
/// The store is read in laps. A lap stops when the queue is full and goes on
/// from there when half of it is free, so that repos at the end are reached
/// however many come before them. A repo that did not fit causes another lap.
class work_scan {
public:
  struct request {
    /// A place in the form in which READER named it; empty: the beginning.
    std::string after;
    size_t limit = 0;   ///< The most rows to read.
    bool quiet = false; ///< Quiet work is wanted as well.
  };

  /// Begins a lap over all rows.
  void begin() noexcept {
    wanted_ = true;
    quiet_ = true;
  }

  /// A repo that is due did not fit. Its row may still be on its way to the
  /// disk, so that a lap of now finds nothing: another lap follows after
  /// `limits::scan_again_after`.
  void left_out_now(steady_time now) noexcept {
    if (wanted_)
      again_ = true;
    else
      begin();
    written_ = now + limits::scan_again_after;
  }

  /// A repo that may wait until `due` did not fit.
  /// @param quiet Only a lap that looks for quiet work finds it again.
  void left_out(steady_time due, bool quiet) noexcept {
    if (!later_ || due < *later_)
      later_ = due;
    later_quiet_ |= quiet;
  }

  void on_timer(steady_time now) noexcept {
    const auto is_due = [now](auto& x) {
      const auto out = x && now >= *x;
      if (out)
        x.reset();
      return out;
    };
    const auto later = is_due(later_);
    if (!is_due(written_) && !later)
      return;
    if (wanted_)
      again_ = true; // Such a lap looks for quiet work.
    else
      quiet_ = later && later_quiet_;
    wanted_ = true;
    later_quiet_ &= !later;
  }

  /// The next page, if one is to be read now.
  /// @param held The number of repos in the queue that are due.
  std::optional<request> next(size_t held, size_t queue_max) {
    if (held >= queue_max)
      filling_ = false;
    else if (held <= queue_max / 2)
      filling_ = true;
    if (!wanted_ || reading_ || !filling_)
      return std::nullopt;
    reading_ = true;
    return request{place_, std::min(limits::repos_page_max, queue_max - held),
                   quiet_};
  }

  /// A page was taken.
  void on_page(std::string next, bool end) {
    reading_ = false;
    place_ = end ? std::string{} : std::move(next);
    if (!end)
      return;
    wanted_ = std::exchange(again_, false);
    quiet_ = wanted_;
  }

private:
  std::string place_;
  bool wanted_ = false; ///< A lap is under way, or is to begin.
  bool again_ = false;  ///< Another lap follows it.
  bool quiet_ = false;
  bool filling_ = false; ///< The queue has room for more of this lap.
  bool reading_ = false;
  std::optional<steady_time> later_; ///< When the next lap is due by itself.
  bool later_quiet_ = false;         ///< That lap looks for quiet work.
  /// The time when the last repo that did not fit should be on disk.
  std::optional<steady_time> written_;
};

} // namespace weir::actors
