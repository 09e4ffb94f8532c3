#pragma once

#include "actors/supervisor/limits_completeness.hpp"
#include "atproto/identifiers.hpp"
#include "base/clock.hpp"

#include <chrono>
#include <optional>

namespace weir::actors {

/// When all rows are looked at, to count which repos are complete and to find
/// what keeps the others from it: a page at a time, each followed by a pause
/// that follows from how long it took. Without CAF, clock or store.
class completeness_laps {
public:
  /// @param interval From the end of a look to the begin of the next, while
  ///                 something is incomplete.
  explicit completeness_laps(std::chrono::seconds interval
                             = limits::completeness_pause);

  /// The node begins.
  void start(steady_time now);

  /// The row behind which the page begins that is to be read now; empty: a look
  /// begins.
  std::optional<atproto::did> next(steady_time now);

  /// The page was read. @param wait Until the next page may be, at least.
  void on_page(const atproto::did& last, steady_time now,
               std::chrono::seconds wait);

  /// It was the last one. @param whole Nothing is incomplete.
  void on_end(bool whole, steady_time now);

  /// Something happened that a look soon should see: the next one does not wait
  /// for longer than after one that found something.
  void hurry(steady_time now);

  /// It could not be read: all begins anew, later.
  void on_failure(steady_time now);

  /// When `next` has something to say that it did not say before.
  std::optional<steady_time> due() const;

private:
  void rest(steady_time now);

  std::chrono::microseconds interval_;
  std::chrono::microseconds interval_whole_; ///< When nothing is incomplete.
  bool reading_ = false;
  bool runs_ = false;
  steady_time began_; ///< The page.
  steady_time due_;
  steady_time rested_; ///< The last page is paid for.
  atproto::did after_;
};

} // namespace weir::actors
