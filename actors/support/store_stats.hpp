#pragma once

#include "storage/records.hpp"

#include <atomic>
#include <cstdint>

namespace weir::actors {

/// Counts of what the store holds, kept by the JOURNAL, read by anyone.
struct store_stats {
  /// By `repo_status`; 0: out of sync and the account is away, so that nothing
  /// is fetched.
  std::atomic<uint64_t> repos[6] = {};
  std::atomic<uint64_t> records{0};
  std::atomic<uint64_t> durable{0}; ///< Last id that is on disk.
  std::atomic<uint64_t> events{0};  ///< How many of the ids up to it are events.

  /// Where a repo is counted.
  std::atomic<uint64_t>& of(storage::repo_status status, bool active) noexcept {
    const auto away = !active && status != storage::repo_status::synced;
    return repos[away ? 0 : static_cast<size_t>(status)];
  }

  uint64_t repo_count() const noexcept {
    uint64_t sum = 0;
    for (const auto& x : repos)
      sum += x.load(std::memory_order_relaxed);
    return sum;
  }
};

} // namespace weir::actors
