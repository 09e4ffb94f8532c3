#pragma once

#include "net/event_loop.hpp"

#include <atomic>
#include <functional>
#include <memory>

namespace weir::simnet {

/// Calls a worker at a given rate even when earlier work is not finished (open
/// loop). Work that is not done in time stays due.
///
/// # Ownership and threads
/// Made by `make`. It works on one loop, in turns of a few milliseconds. Calls
/// are safe from any thread. Destroy it on the loop or after the loop has
/// stopped.
class pacer : public std::enable_shared_from_this<pacer> {
public:
  /// Does up to `n` units and returns how many. Fewer means that there is no
  /// more work.
  using worker = std::function<size_t(size_t n)>;

  static std::shared_ptr<pacer> make(net::event_loop& loop, worker work) {
    return std::shared_ptr<pacer>{new pacer{loop, std::move(work)}};
  }

  /// Sets the units per second; 0 pauses. Units that are due are dropped.
  void set_rate(double per_second);

  double rate() const noexcept { return rate_; }

  /// Units that should have been done by now but are not.
  uint64_t behind() const noexcept { return behind_; }

private:
  pacer(net::event_loop& loop, worker work)
    : loop_(loop), work_(std::move(work)) {}

  void restart(double per_second);
  void turn();
  uint64_t due() const;

  net::event_loop& loop_;
  const worker work_;
  std::unique_ptr<net::timer> timer_;
  steady_time start_;
  uint64_t done_ = 0; ///< Units done since `start_`.
  std::atomic<double> rate_{0};
  std::atomic<uint64_t> behind_{0};
};

} // namespace weir::simnet
