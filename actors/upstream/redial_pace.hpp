#pragma once

#include "actors/upstream/limits.hpp"
#include "base/clock.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>

namespace weir::actors {

/// Decides when a stream connects again (protocol-coverage.md 1.3, 1.14).
class redial_pace {
public:
  /// The stream brought a new event: the next wait is the shortest again.
  void gets_on() noexcept { backoff_ = std::chrono::microseconds{0}; }

  /// The wait after a connection ended: one second, doubling up to a minute,
  /// and a part of that on top, so that not all nodes come back together.
  /// @param draw Any number; 0 adds nothing.
  std::chrono::microseconds wait(uint64_t draw) {
    backoff_ = std::clamp<std::chrono::microseconds>(
      backoff_ * 2, limits::upstream_backoff_min, limits::upstream_backoff_max);
    const auto most = backoff_ / limits::upstream_jitter_part;
    return backoff_
           + std::chrono::microseconds{static_cast<int64_t>(
             draw % (static_cast<uint64_t>(most.count()) + 1))};
  }

  /// The host ended the stream because it was read too slowly.
  /// @returns the number of times within `limits::too_slow_window`, if it is
  /// `limits::too_slow_often` or more; otherwise 0.
  size_t was_too_slow(steady_time now) {
    while (!slow_.empty() && now - slow_.front() >= limits::too_slow_window)
      slow_.pop_front();
    slow_.push_back(now);
    if (slow_.size() > limits::too_slow_often)
      slow_.pop_front();
    return slow_.size() == limits::too_slow_often ? slow_.size() : 0;
  }

private:
  std::chrono::microseconds backoff_{0};
  std::deque<steady_time> slow_; ///< `too_slow_often` at most.
};

} // namespace weir::actors
