#pragma once

#include "actors/support/limits.hpp"

#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

namespace weir::actors {

/// The acks of one connection that the CONSUMER of one partition has not taken
/// yet. A client that keeps up acks each event alone. If each of its acks woke
/// the CONSUMER, the waking would cost more than the work, so an ack for which
/// nothing waits is kept here until the CONSUMER's next turn.
///
/// # Threads
/// The connection's thread puts acks in, and the CONSUMER takes them.
///
/// # Limits
/// `limits::waiting_acks_max`. Further acks are counted and dropped; their
/// events are sent again.
class ack_inbox {
public:
  /// @param event The id that the client knows.
  /// @returns whether the CONSUMER must be sent an `acks_waiting`.
  [[nodiscard]] bool put(uint64_t event) {
    const std::lock_guard guard{mutex_};
    if (content_.events.size() < limits::waiting_acks_max)
      content_.events.push_back(event);
    else
      ++content_.dropped;
    return std::exchange(wakes_, false);
  }

  struct content {
    std::vector<uint64_t> events; ///< In the order in which they came.
    uint64_t dropped = 0;
  };

  /// @param more_may_wait The CONSUMER will look again by itself. Otherwise the
  /// next ack wakes it.
  content take(bool more_may_wait) {
    const std::lock_guard guard{mutex_};
    wakes_ = !more_may_wait;
    return std::exchange(content_, {});
  }

private:
  std::mutex mutex_;
  content content_;
  bool wakes_ = true;
};

} // namespace weir::actors
