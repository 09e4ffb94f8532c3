#pragma once

#include "base/clock.hpp"

namespace weir {

/// A clock that moves only when `advance` is called.
/// It is not synchronised: move it while no other thread reads it.
class manual_clock : public clock {
public:
  explicit manual_clock(wall_time start = {1'700'000'000'000'000})
    : wall_(start) {}

  steady_time steady_now() const noexcept override { return steady_; }

  wall_time wall_now() const noexcept override { return wall_; }

  void advance(std::chrono::microseconds x) noexcept {
    steady_.micros += x.count();
    wall_.micros += x.count();
  }

private:
  steady_time steady_;
  wall_time wall_;
};

} // namespace weir
