#pragma once

#include "net/event_loop.hpp"

#include <chrono>
#include <list>
#include <memory>

namespace weir::simnet {

/// Any number of one-shot timers on one loop.
///
/// # Ownership and threads
/// Made by `make`; call `after` on any thread. Destroy it on the loop or after
/// the loop has stopped; alarms that have not fired are then dropped.
class alarms : public std::enable_shared_from_this<alarms> {
public:
  static std::shared_ptr<alarms> make(net::event_loop& loop) {
    return std::shared_ptr<alarms>{new alarms{loop}};
  }

  /// Runs `x` on the loop after `delay`.
  void after(std::chrono::microseconds delay, net::task x);

  net::event_loop& loop() noexcept { return loop_; }

private:
  explicit alarms(net::event_loop& loop) : loop_(loop) {}

  struct alarm {
    std::unique_ptr<net::timer> clock;
    bool over = false;
  };

  void set(std::chrono::microseconds delay, net::task x);

  net::event_loop& loop_;
  std::list<alarm> pending_;
};

} // namespace weir::simnet
