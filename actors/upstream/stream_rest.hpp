#pragma once

#include "actors/support/limits.hpp"
#include "base/clock.hpp"

#include <algorithm>
#include <chrono>
#include <optional>

namespace weir::actors {

/// Remembers when nothing of one connection was on its way. It uses only the
/// clock that never jumps, so that no error remains from a wrong time of day.
class stream_rest {
public:
  /// @param from_now The connection asked for new events only.
  void on_open(steady_time now, bool from_now) noexcept {
    opened_at_ = now;
    caught_up_ = from_now;
    rested_at_.reset();
  }

  /// Frames have come in time, and nothing was in flight from `quiet_since` on.
  /// @param quiet_min A shorter silence does not show that nothing is missing.
  void on_frames(std::optional<steady_time> quiet_since,
                 std::chrono::microseconds quiet_min,
                 steady_time now) noexcept {
    if (!quiet_since)
      return;
    const auto rest = now - std::max(*quiet_since, opened_at_);
    caught_up_ |= rest >= std::max(limits::catch_up_quiet_min, quiet_min);
    if (rest >= quiet_min)
      rested_at_ = now;
  }

  steady_time opened_at() const noexcept { return opened_at_; }

  /// Whether all from before the connection has come; then it stays true.
  bool caught_up() const noexcept { return caught_up_; }

  std::optional<steady_time> rested_at() const noexcept { return rested_at_; }

private:
  steady_time opened_at_;
  bool caught_up_ = false;
  std::optional<steady_time> rested_at_;
};

} // namespace weir::actors
