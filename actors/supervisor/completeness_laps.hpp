#pragma once

#include "atproto/identifiers.hpp"
#include "base/clock.hpp"
#include "base/limits_uncovered.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace weir::actors {

/// When all rows are looked at, to count which repos are complete and to find
/// what keeps the others from it: a page at a time, again after a pause that
/// follows from how long the look took. Without CAF, clock or store.
class completeness_laps {
public:
  /// The node begins.
  void start(steady_time now);

  /// The row behind which the page begins that is to be read now.
  std::optional<atproto::did> next(steady_time now);

  /// The page was read. @param wait Until the next page may be.
  void on_page(const atproto::did& last, steady_time now,
               std::chrono::seconds wait);

  /// It was the last one. @param whole Nothing is incomplete.
  void on_end(bool whole, steady_time now);

  /// Something happened that a look soon should see: the next one does not wait
  /// for longer than after one that found something.
  void hurry(steady_time now);

  /// It could not be read: all begins anew, later.
  void on_failure(steady_time now);

  /// Whether this host may be asked about one more repo now: about
  /// `limits::uncovered_asked_per_host` an hour. Counts it.
  bool may_ask(const std::string& pds, steady_time now);

  /// When `next` has something to say that it did not say before.
  std::optional<steady_time> due() const;

private:
  bool reading_ = false;
  bool runs_ = false;
  steady_time began_;
  steady_time due_;
  std::chrono::microseconds last_rest_{0}; ///< That the last look cost.
  atproto::did after_;
  std::optional<steady_time> asked_since_;
  std::unique_ptr<std::array<uint32_t, limits::uncovered_host_slots>> asked_
    = std::make_unique<std::array<uint32_t, limits::uncovered_host_slots>>();
};

} // namespace weir::actors
