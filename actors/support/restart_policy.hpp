#pragma once

#include "actors/support/limits.hpp"
#include "base/clock.hpp"

#include <chrono>
#include <cstddef>
#include <deque>

namespace weir::actors {

/// OTP's restart intensity (actors.md, Rules): at most `count_max` restarts in
/// `window`; one more escalates.
class restart_policy {
public:
  explicit restart_policy(size_t count_max = limits::child_restarts_max,
                          std::chrono::seconds window
                          = limits::child_restart_window)
    : count_max_(count_max), window_(window) {}

  /// Called when a child died. False: do not restart it, escalate.
  bool may_restart(steady_time now) {
    while (!restarts_.empty() && now - restarts_.front() > window_)
      restarts_.pop_front();
    if (restarts_.size() >= count_max_)
      return false;
    restarts_.push_back(now);
    return true;
  }

  /// Whether no child died in the window.
  bool quiet(steady_time now) const noexcept {
    return restarts_.empty() || now - restarts_.back() > window_;
  }

private:
  size_t count_max_;
  std::chrono::microseconds window_;
  std::deque<steady_time> restarts_;
};

} // namespace weir::actors
