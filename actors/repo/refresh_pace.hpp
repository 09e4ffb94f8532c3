#pragma once

#include "actors/repo/identity_retry.hpp"
#include "actors/repo/limits.hpp"
#include "actors/repo/repo_types.hpp"

#include <utility>

namespace weir::actors {

/// When a repo may have its identity looked up anew: a few times in a while
/// (protocol-coverage.md 2.5.9), and after a failure not before the pause is
/// over.
class refresh_pace {
public:
  bool may(steady_time now, std::chrono::seconds interval) const {
    return now >= not_before_
           && (times_.size() < limits::refresh_burst_max
               || now - times_.front() >= interval);
  }

  /// When `may` holds again.
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

  /// The last look-up failed, so the document that is known may be an old one.
  bool failing() const noexcept { return failing_; }

  /// A newer document is wanted, or could not be had.
  bool open() const noexcept { return failing_ || wanted; }

  void failed(steady_time not_before) noexcept {
    failing_ = true;
    not_before_ = not_before;
  }

  void answered() noexcept {
    failing_ = false;
    not_before_ = {};
  }

  /// The upstream whose frame makes a look-up necessary: it takes a turn of
  /// that host. 0: no host but the account's own.
  uint32_t cause() const noexcept { return cause_; }

  /// @returns whether it is another one than before.
  bool set_cause(uint32_t upstream) noexcept {
    return std::exchange(cause_, upstream) != upstream;
  }

  bool wanted = false; ///< As soon as it may be.
  identity_retry retry;

private:
  lazy_deque<steady_time> times_;
  steady_time not_before_;
  bool failing_ = false;
  uint32_t cause_ = 0;
};

} // namespace weir::actors
