#pragma once

#include "actors/supervisor/limits_accounts.hpp"
#include "atproto/identifiers.hpp"
#include "base/clock.hpp"

#include <chrono>
#include <optional>

namespace weir::actors {

/// Decides when all rows are looked at, to count the complete repos and to find
/// what the others lack. A look reads a page at a time; the pause after a page
/// follows from how long the page took. Without CAF, clock or store.
class completeness_laps {
public:
  /// @param interval From the end of a look to the begin of the next, while
  ///                 something is incomplete.
  explicit completeness_laps(std::chrono::seconds interval
                             = limits::completeness_pause);

  /// The node starts.
  void start(steady_time now);

  /// The row after which the page begins that has to be read now. The empty
  /// DID: a new look begins.
  std::optional<atproto::did> next(steady_time now);

  /// The page was read.
  /// @param wait The shortest time until the next page.
  void on_page(const atproto::did& last, steady_time now,
               std::chrono::seconds wait);

  /// That page was the last one.
  /// @param whole Nothing is incomplete.
  void on_end(bool whole, steady_time now);

  /// Something happened that a look should see soon: the next look waits no
  /// longer than it would after a look that found something incomplete.
  void hurry(steady_time now);

  /// The page could not be read: the look begins anew, later.
  void on_failure(steady_time now);

  /// When `next` will have something new to return.
  std::optional<steady_time> due() const;

private:
  void rest(steady_time now);

  std::chrono::microseconds interval_;
  /// The same when nothing is incomplete.
  std::chrono::microseconds interval_whole_;
  bool reading_ = false;
  bool runs_ = false;
  steady_time began_; ///< When the page was begun.
  steady_time due_;
  steady_time rested_; ///< The end of the pause that the last page requires.
  atproto::did after_;
};

} // namespace weir::actors
