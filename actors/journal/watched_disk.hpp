#pragma once

#include "actors/support/store_stats.hpp"
#include "base/clock.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace weir::actors {

/// Runs calls that write to the disk and may wait for it. Meanwhile the health
/// watch can see how long one takes.
///
/// # Ownership and threads
/// Borrows what its constructor takes. The JOURNAL's thread.
class watched_disk {
public:
  /// @param before_wait Called before each call.
  watched_disk(const clock& time, store_stats& stats,
               std::function<void()> before_wait)
    : time_(time), stats_(stats), before_wait_(std::move(before_wait)) {}

  template <class F>
  auto run(F&& write) {
    before_wait_();
    stats_.writes_since = std::max<int64_t>(time_.steady_now().micros, 1);
    auto out = std::forward<F>(write)();
    stats_.writes_since = 0;
    return out;
  }

private:
  const clock& time_;
  store_stats& stats_;
  std::function<void()> before_wait_;
};

} // namespace weir::actors
