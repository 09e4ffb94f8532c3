#pragma once

#include "base/clock.hpp"

#include <chrono>
#include <functional>
#include <memory>

namespace weir::net {

/// Work for a loop. It must not throw.
using task = std::function<void()>;

/// A one-shot alarm of one `event_loop`.
///
/// # Ownership and threads
/// Owned by its user; its destruction cancels the alarm. Use it only on the
/// loop's own thread.
class timer {
public:
  virtual ~timer() = default;

  /// Runs `x` on the loop after `delay`. A task that was set before will not
  /// run.
  virtual void start(std::chrono::microseconds delay, task x) = 0;

  /// Forgets the task; it will not run.
  virtual void cancel() noexcept = 0;
};

/// One thread's queue of work: what is posted runs in order, one at a time.
/// Every connection lives on exactly one loop and needs no locks there.
///
/// This is the part of the network and timer seam that does not depend on
/// sockets: the simulator brings a loop with virtual time.
///
/// # Threads
/// `post` and `now` are safe from any thread; use the rest only on the loop.
class event_loop {
public:
  virtual ~event_loop() = default;

  /// Appends `x`. It is dropped without being run once the loop has stopped.
  virtual void post(task x) = 0;

  /// Whether the caller runs on this loop.
  virtual bool here() const noexcept = 0;

  virtual std::unique_ptr<timer> make_timer() = 0;

  /// The time that this loop's timers follow.
  virtual steady_time now() const noexcept = 0;

  /// Runs `x` now when already on the loop, otherwise posts it.
  void dispatch(task x) {
    if (here())
      x();
    else
      post(std::move(x));
  }
};

} // namespace weir::net
