#pragma once

#include "net/event_loop.hpp"

#include <chrono>
#include <list>
#include <memory>
#include <utility>

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
  void after(std::chrono::microseconds delay, net::task x) {
    loop_.post([weak = weak_from_this(), delay, x = std::move(x)]() mutable {
      if (const auto self = weak.lock())
        self->set(delay, std::move(x));
    });
  }

  net::event_loop& loop() noexcept { return loop_; }

private:
  explicit alarms(net::event_loop& loop) : loop_(loop) {}

  struct alarm {
    std::unique_ptr<net::timer> clock;
    bool over = false;
  };

  void set(std::chrono::microseconds delay, net::task x) {
    // Timers that have fired are removed here, since a timer must outlive its
    // own task.
    pending_.remove_if([](const alarm& y) {
      return y.over;
    });
    auto& mine = pending_.emplace_back(alarm{loop_.make_timer()});
    mine.clock->start(delay, [&mine, x = std::move(x)] {
      mine.over = true;
      x();
    });
  }

  net::event_loop& loop_;
  std::list<alarm> pending_;
};

} // namespace weir::simnet
