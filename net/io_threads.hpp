#pragma once

#include "net/event_loop.hpp"

#include <cstddef>
#include <memory>

namespace weir::net {

/// The threads that run the sockets: one event loop each.
///
/// # Ownership and threads
/// Made and joined by NODE; outlives everything made on its loops (transport,
/// clients, servers, sessions, rights to answer). After `stop` no callback is
/// due any more: those that did not run before `join` returned never run. Do
/// not call `join` on a loop.
class io_threads {
public:
  /// @param count Loops, 1 or 2; two when many TLS handshakes are expected.
  explicit io_threads(size_t count = 1);

  ~io_threads();

  io_threads(const io_threads&) = delete;
  io_threads& operator=(const io_threads&) = delete;

  /// Starts the threads; call it once. Work that was posted before runs first.
  void start();

  /// Asks all loops to end after the task they are in. From any thread.
  void stop() noexcept;

  /// Asks all loops to end after the work that was posted before, so that
  /// sockets that wait to be closed are closed. From any thread.
  void finish();

  void join() noexcept;

  /// Runs `x` on the first loop.
  void post(task x);

  size_t size() const noexcept;

  /// @pre `index < size()`
  event_loop& loop(size_t index) noexcept;

  /// The loops in turn, so that connections spread evenly.
  event_loop& next_loop() noexcept;

private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

} // namespace weir::net
