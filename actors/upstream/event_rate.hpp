#pragma once

#include "base/limits.hpp"
#include "base/token_bucket.hpp"

#include <algorithm>
#include <cstddef>

namespace weir::actors {

/// How many events of one stream may come: a token bucket that is waited for,
/// nothing is dropped (reliability.md 2.1, Event flood). One second fills it.
/// Frames that are not what they claim cost more than others, because others
/// pay for their checks: `limits::refused_frame_cost` events each.
///
/// Part of an `upstream_machine`; one thread.
class event_rate {
public:
  /// @param per_second 0: as many as come.
  explicit event_rate(size_t per_second)
    : per_second_(static_cast<double>(per_second)),
      bucket_(per_second_, per_second_) {
    // nop
  }

  /// So many of `wanted` may come now. A tenth of a second's worth at least, or
  /// none: single ones would cost a wake-up each.
  size_t allow(size_t wanted, steady_time now) {
    if (per_second_ == 0)
      return wanted;
    const auto least = std::min<double>(static_cast<double>(wanted),
                                        std::max(1.0, per_second_ / 10));
    const auto there = bucket_.level(now);
    if (there < least)
      return 0;
    const auto given = std::min(wanted, static_cast<size_t>(there));
    bucket_.take(now, static_cast<double>(given));
    return given;
  }

  /// Of those that came, so many were refused. What a full second of refused
  /// ones costs is the most that is owed.
  void charge(size_t refused, steady_time now) {
    constexpr auto cost = static_cast<double>(limits::refused_frame_cost);
    bucket_.charge(now, static_cast<double>(refused) * cost,
                   per_second_ * cost);
  }

private:
  double per_second_;
  token_bucket bucket_;
};

} // namespace weir::actors
