#pragma once

#include "actors/support/health_machine.hpp"

#include <mutex>
#include <utility>

namespace weir::actors {

/// How the node's work goes. The actors that do the work report outcomes,
/// NODE's health watch judges them, the API shows the result. Any thread.
class health_board {
public:
  /// Runs `f` on the machine under the lock.
  template <class F>
  auto with(F&& f) {
    const std::lock_guard guard{mutex_};
    return std::forward<F>(f)(machine_);
  }

  std::vector<health_finding> findings() const {
    const std::lock_guard guard{mutex_};
    return machine_.findings();
  }

private:
  mutable std::mutex mutex_;
  health_machine machine_;
};

} // namespace weir::actors
