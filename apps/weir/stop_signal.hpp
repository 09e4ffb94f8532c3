#pragma once

#include "base/error.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>

namespace weir::apps {

/// The wish to end: SIGTERM, SIGINT or SIGHUP, or a failure of the program's
/// own. A program that reads its configuration again at SIGHUP does not end then.
/// No handler runs anywhere; signals are read like any other input. The
/// process ignores SIGPIPE from here on.
///
/// # Ownership and threads
/// Made by the main thread before it starts any other, so that all inherit
/// its signal mask; it waits there. `fail` from any thread.
class stop_signal {
public:
  /// @param on_hangup Called at SIGHUP by the thread that waits; null: SIGHUP
  /// ends the program.
  explicit stop_signal(std::function<void()> on_hangup = {});
  ~stop_signal();

  stop_signal(const stop_signal&) = delete;
  stop_signal& operator=(const stop_signal&) = delete;

  /// Until it is time to end.
  void wait();

  /// At most this long; true when it is time to end.
  bool wait_for(std::chrono::milliseconds x);

  bool requested() { return wait_for(std::chrono::milliseconds{0}); }

  /// The program cannot go on. The first reason counts.
  void fail(const error& reason);

  /// Why it cannot.
  std::optional<error> failure() const;

private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

/// Ends the process with status 1 and a loud line, unless it is destroyed in
/// time: draining must not hang.
class watchdog {
public:
  explicit watchdog(std::chrono::seconds patience);
  ~watchdog();

  watchdog(const watchdog&) = delete;
  watchdog& operator=(const watchdog&) = delete;

private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

/// How long a drain may take; the promise is 10 s.
constexpr std::chrono::seconds drain_patience{9};

} // namespace weir::apps
