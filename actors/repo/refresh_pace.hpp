#pragma once

#include "actors/repo/identity_retry.hpp"
#include "actors/repo/limits.hpp"
#include "actors/repo/repo_types.hpp"

#include <utility>

namespace weir::actors {

/// Decides when a repo may have its identity looked up anew: at most
/// `limits::refresh_burst_max` times in an interval (protocol-coverage.md
/// 2.5.9), and after a failure not before a pause is over.
class refresh_pace {
public:
  bool may(steady_time now, std::chrono::seconds interval) const {
    return now >= not_before_
           && (times_.size() < limits::refresh_burst_max
               || now - times_.front() >= interval);
  }

  /// The time at which `may` holds again.
  steady_time due(std::chrono::seconds interval) const {
    auto out = not_before_;
    if (times_.size() >= limits::refresh_burst_max)
      out = std::max(out, times_.front() + interval);
    return out;
  }

  void spend(steady_time now) {
    wanted = false;
    times_.push_back(now);
    if (times_.size() > limits::refresh_burst_max)
      times_.pop_front();
  }

  /// The last look-up failed, so the known document may be an old one.
  bool failing() const noexcept { return failing_; }

  /// A newer document is wanted, or could not be fetched.
  bool open() const noexcept { return failing_ || wanted; }

  void failed(steady_time not_before) noexcept {
    failing_ = true;
    not_before_ = not_before;
  }

  void answered() noexcept {
    failing_ = false;
    not_before_ = {};
  }

  /// The upstream whose frame makes a look-up necessary: the look-up is charged
  /// to its host. 0: to the account's own host.
  uint32_t cause() const noexcept { return cause_; }

  /// @returns whether the cause changed.
  bool set_cause(uint32_t upstream) noexcept {
    return std::exchange(cause_, upstream) != upstream;
  }

  bool wanted = false; ///< A look-up is to be made as soon as the pace allows.
  identity_retry retry;

private:
  lazy_deque<steady_time> times_;
  steady_time not_before_;
  bool failing_ = false;
  uint32_t cause_ = 0;
};

} // namespace weir::actors
