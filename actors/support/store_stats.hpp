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
  /// By `repo_status` alone, whatever the account is: as `GET /repos` says it.
  std::atomic<uint64_t> statuses[6] = {};
  /// By `account_status`.
  std::atomic<uint64_t> accounts[7] = {};
  std::atomic<uint64_t> records{0};
  std::atomic<uint64_t> durable{0}; ///< Last id that is on disk.
  std::atomic<uint64_t> events{0};  ///< How many of the ids up to it are events.

  void add(storage::repo_status status,
           storage::account_status account) noexcept {
    ++of(status, account);
    ++statuses[static_cast<size_t>(status)];
    ++accounts[static_cast<size_t>(account)];
  }

  /// What was added before.
  void take_away(storage::repo_status status,
                 storage::account_status account) noexcept {
    --of(status, account);
    --statuses[static_cast<size_t>(status)];
    --accounts[static_cast<size_t>(account)];
  }

  uint64_t repo_count() const noexcept {
    uint64_t sum = 0;
    for (const auto& x : repos)
      sum += x.load(std::memory_order_relaxed);
    return sum;
  }

private:
  std::atomic<uint64_t>& of(storage::repo_status status,
                            storage::account_status account) noexcept {
    const auto away = account != storage::account_status::active
                      && status != storage::repo_status::synced;
    return repos[away ? 0 : static_cast<size_t>(status)];
  }
};

} // namespace weir::actors
