#pragma once

#include "actors/upstream/limits.hpp"
#include "base/token_bucket.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>

namespace weir::actors {

/// How many events of one stream may come: a token bucket that is waited for,
/// nothing is dropped (docs/hostile-inputs.md 2.1.32). One second fills it.
///
/// Frames that are not what they claim cost more than others, because others
/// pay for their checks: `limits::refused_frame_cost` events each. And until a
/// second's worth of frames was found good since the last one, as at first, few
/// come at a time.
///
/// Streams wait for different times, by their number: a hundred that began
/// together would else have their portions together for ever, and what another
/// host sends would wait behind all of them.
///
/// Part of an `upstream_machine`; one thread.
class event_rate {
public:
  /// @param per_second 0: as many as come.
  /// @param stream Its number.
  event_rate(size_t per_second, uint32_t stream)
    : per_second_(per_second), later_(golden_part(stream)),
      bucket_(static_cast<double>(per_second),
              static_cast<double>(per_second)) {
    // nop
  }

  /// So many of `wanted` may come now. A tenth of a second's worth at least, or
  /// none: single ones would cost a wake-up each.
  size_t allow(size_t wanted, steady_time now) {
    if (per_second_ == 0)
      return wanted;
    const auto there = bucket_.level(now);
    if (there < static_cast<double>(std::min(wanted, portion())))
      return 0;
    auto given = std::min(wanted, static_cast<size_t>(there));
    if (doubted())
      given = std::min(given, portion());
    bucket_.take(now, static_cast<double>(given));
    return given;
  }

  /// When to ask `allow` again, which will give a portion or two. At most
  /// `limits::event_spread_max` after it would have.
  steady_time next(steady_time now) const {
    const auto wait = bucket_.delay(now, static_cast<double>(portion()));
    const auto spread
      = std::min<std::chrono::microseconds>(wait, limits::event_spread_max);
    const auto more = static_cast<double>(spread.count()) * later_;
    return now + wait + std::chrono::microseconds{static_cast<int64_t>(more)};
  }

  /// So many of those that came were what they claim.
  void earn(size_t good) { good_ = std::min(good_ + good, per_second_); }

  /// Of those that came, so many were refused. What a full second of refused
  /// ones costs is the most that is owed.
  void charge(size_t refused, steady_time now) {
    if (refused == 0)
      return;
    const auto cost = static_cast<double>(limits::refused_frame_cost);
    bucket_.charge(now, static_cast<double>(refused) * cost,
                   static_cast<double>(per_second_) * cost);
    good_ = 0;
  }

private:
  /// Evenly spread over [0, 1) for numbers that follow each other.
  static double golden_part(uint32_t x) {
    const auto turned = static_cast<double>(x) * std::numbers::phi;
    return turned - std::floor(turned);
  }

  bool doubted() const noexcept { return good_ < per_second_; }

  size_t portion() const noexcept {
    const auto usual = std::max<size_t>(per_second_ / 10, 1);
    return doubted() ? std::min(usual, limits::doubted_portion_max) : usual;
  }

  size_t per_second_;
  double later_; ///< Waits longer by this part of what it must.
  token_bucket bucket_;
  /// Earned since the last refused one, up to a second's worth.
  size_t good_ = 0;
};

} // namespace weir::actors
