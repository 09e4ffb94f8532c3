#pragma once

#include <atomic>
#include <cstdint>

namespace weir::actors {

/// Counts of what the store holds, kept by the JOURNAL, read by anyone.
struct store_stats {
  std::atomic<uint64_t> repos[6] = {}; ///< By `repo_status`.
  std::atomic<uint64_t> records{0};
  std::atomic<uint64_t> durable{0}; ///< Last id that is on disk.

  uint64_t repo_count() const noexcept {
    uint64_t sum = 0;
    for (const auto& x : repos)
      sum += x.load(std::memory_order_relaxed);
    return sum;
  }
};

} // namespace weir::actors
