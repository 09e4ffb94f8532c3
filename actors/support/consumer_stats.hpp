#pragma once

#include <atomic>
#include <cstdint>

namespace weir::actors {

/// Numbers of one CONSUMER, kept by it, read by anyone.
struct consumer_stats {
  std::atomic<uint64_t> position{0}; ///< Everything at or below is acked.
  std::atomic<uint64_t> backlog{0};  ///< Durable operations not settled yet.
  std::atomic<uint64_t> in_flight{0};
  std::atomic<uint64_t> sent{0};
  std::atomic<uint64_t> acked{0};
  std::atomic<uint64_t> redelivered{0};
  std::atomic<uint64_t> unknown_acks{0};
  std::atomic<uint64_t> foreign_acks{0}; ///< Of ids that the log never gave.
  std::atomic<uint64_t> dead_letters{0};
  std::atomic<uint64_t> parked{0};
  std::atomic<uint64_t> sessions{0};
};

} // namespace weir::actors
