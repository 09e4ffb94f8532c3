#pragma once

#include "base/clock.hpp"

#include <atomic>
#include <cstdint>

namespace weir::actors {

/// Numbers of one CONSUMER, which writes them; any thread may read.
struct consumer_stats {
  std::atomic<uint64_t> position{0}; ///< Everything at or below is acked.
  std::atomic<uint64_t> backlog{0};  ///< Durable events not settled yet.
  /// When the oldest event was logged that could be delivered and is not
  /// settled, in microseconds since 1970; 0 when there is none.
  std::atomic<int64_t> oldest_us{0};
  std::atomic<uint64_t> in_flight{0};
  std::atomic<uint64_t> sent{0};
  std::atomic<uint64_t> acked{0};
  std::atomic<uint64_t> redelivered{0};
  std::atomic<uint64_t> unknown_acks{0};
  std::atomic<uint64_t> foreign_acks{0}; ///< For ids that the log never gave.
  std::atomic<uint64_t> refused_acks{0}; ///< Messages that were not acks.
  std::atomic<uint64_t> dead_letters{0}; ///< Kept now.
  std::atomic<uint64_t> parked{0};
  std::atomic<uint64_t> sessions{0};

  /// Age of the oldest event that could be delivered and is not settled.
  double backlog_seconds(wall_time now) const noexcept {
    const auto at = oldest_us.load(std::memory_order_relaxed);
    return at == 0 || now.micros <= at ? 0 : double(now.micros - at) / 1e6;
  }
};

} // namespace weir::actors
