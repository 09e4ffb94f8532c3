#pragma once

#include "base/error.hpp"

#include <chrono>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

namespace weir::apps {

/// Waits for the end of the program: SIGTERM, SIGINT or SIGHUP, or a failure of
/// the program itself. When SIGHUP reads the configuration again, it does not
/// end the program. There is no signal handler; signals are read like other
/// input. The process ignores SIGPIPE and SIGXFSZ from here on.
///
/// # Ownership and threads
/// The main thread makes it before it starts other threads, so that all inherit
/// its signal mask, and waits on it. Call `fail` and `watch` on any thread.
class stop_signal {
public:
  /// @param on_hangup Called for SIGHUP by the waiting thread. When null,
  /// SIGHUP ends the program.
  explicit stop_signal(std::function<void()> on_hangup = {});
  ~stop_signal();

  stop_signal(const stop_signal&) = delete;
  stop_signal& operator=(const stop_signal&) = delete;

  /// Waits until the program must end.
  void wait();

  /// Waits at most `x`. Returns true when the program must end.
  bool wait_for(std::chrono::milliseconds x);

  bool requested() { return wait_for(std::chrono::milliseconds{0}); }

  /// Waits until the program must end, also while the main thread does
  /// something else and sees no signal. It takes no signal away. Only one
  /// thread watches, and only once.
  /// @returns false when `given_up` was asked first.
  bool watch(const std::stop_token& given_up) const;

  /// Says that the program cannot continue. The first reason counts.
  void fail(const error& reason);

  /// The reason of the failure, if there is one.
  std::optional<error> failure() const {
    const std::lock_guard lock{guard_};
    return reason_;
  }

private:
  void say_ended() const;

  std::function<void()> on_hangup_;
  int signals_ = -1;     ///< A signalfd that `wait` reads.
  int end_signals_ = -1; ///< A signalfd of those that end it; never read.
  int ended_ = -1;       ///< An eventfd: readable once the program must end.
  int unwatched_ = -1;   ///< An eventfd: readable once `watch` was given up.
  bool stopped_ = false;
  mutable std::mutex guard_; ///< Guards `reason_`.
  std::optional<error> reason_;
};

/// Ends the process with status 1 and an error line unless it is destroyed in
/// time, because stopping must not hang. This is safe for the data at any
/// moment, as `kill -9` is.
class watchdog {
public:
  /// The time begins now.
  explicit watchdog(std::chrono::seconds patience);

  /// The time begins when the program must end, whatever it does then: it may
  /// still start.
  /// @param stop Outlives this object.
  watchdog(const stop_signal& stop, std::chrono::seconds patience);

private:
  std::jthread worker_;
};

/// How long stopping may take; the promise is 10 s.
constexpr std::chrono::seconds drain_patience{9};

} // namespace weir::apps
