#pragma once

#include "actors/upstream/limits.hpp"
#include "base/token_bucket.hpp"

#include <algorithm>
#include <cstddef>

namespace weir::actors {

/// How many events of one stream may come: a token bucket that is waited for,
/// nothing is dropped (docs/hostile-inputs.md 2.1.32). One second fills it.
///
/// Frames that are not what they claim cost `limits::refused_frame_cost` events
/// each, because others pay for their checks.
///
/// Part of an `upstream_machine`; one thread.
class event_rate {
public:
  /// @param per_second 0: as many as come.
  explicit event_rate(size_t per_second)
    : per_second_(per_second),
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
    const auto given = std::min(wanted, static_cast<size_t>(there));
    bucket_.take(now, static_cast<double>(given));
    return given;
  }

  /// When to ask `allow` again, which will give a portion.
  steady_time next(steady_time now) const {
    return now + bucket_.delay(now, static_cast<double>(portion()));
  }

  /// Of those that came, so many were refused. What a full second of refused
  /// ones costs is the most that is owed.
  void charge(size_t refused, steady_time now) {
    const auto cost = static_cast<double>(limits::refused_frame_cost);
    bucket_.charge(now, static_cast<double>(refused) * cost,
                   static_cast<double>(per_second_) * cost);
  }

private:
  size_t portion() const noexcept {
    return std::max<size_t>(per_second_ / 10, 1);
  }

  size_t per_second_;
  token_bucket bucket_;
};

} // namespace weir::actors
