#pragma once

#include "base/clock.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>

namespace weir::actors {

/// The requests that all listings of one upstream together may make in an hour,
/// on average. Each request costs its part of an hour, even when it fails or
/// could not wait. An audit begins when enough time has passed to pay for all
/// earlier requests.
class listing_budget {
public:
  /// @param requests The requests in an hour, at least one.
  /// @param most An audit waits no longer than this, however much was charged.
  listing_budget(size_t requests, std::chrono::microseconds most)
    : cost_(cost_of(requests)), most_(most) {}

  /// The cost of one request, rounded up.
  static std::chrono::microseconds cost_of(size_t requests) noexcept {
    const std::chrono::microseconds hour = std::chrono::hours{1};
    const auto n = static_cast<int64_t>(requests);
    return std::chrono::microseconds{(hour.count() + n - 1) / n};
  }

  void charge(steady_time now, size_t requests = 1) noexcept {
    free_at_
      = std::min(std::max(free_at_, now)
                   + cost_ * static_cast<int64_t>(requests),
                 now + most_);
  }

  std::chrono::microseconds cost() const noexcept { return cost_; }

  /// @returns when all earlier requests are paid for.
  steady_time free_at() const noexcept { return free_at_; }

private:
  std::chrono::microseconds cost_;
  std::chrono::microseconds most_;
  steady_time free_at_;
};

} // namespace weir::actors
