#pragma once

#include "base/clock.hpp"
#include "storage/format/records.hpp"

#include <atomic>
#include <cstdint>
#include <optional>

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
  /// When the first repo began to wait for its fetch, as a steady time; 0: none
  /// did since all was told and this was set back.
  std::atomic<int64_t> waits_since{0};
  std::atomic<int64_t> waited_until{0}; ///< When one ceased to wait.
  /// How often a synced repo was synced no more, or removed.
  std::atomic<uint64_t> fallen{0};
  /// Repos that were synced under other collections at the start, and have not
  /// fallen out of sync since.
  std::atomic<uint64_t> outdated{0};
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

  /// Repos that are to be fetched, or are being fetched.
  uint64_t waiting() const noexcept {
    uint64_t sum = 0;
    for (const auto x :
         {storage::repo_status::pending, storage::repo_status::syncing,
          storage::repo_status::desync})
      sum += repos[static_cast<size_t>(x)].load(std::memory_order_relaxed);
    return sum;
  }

  /// The status of one repo changed; called beside `add` and `take_away`. Before a
  /// repo is fetched again under other collections it falls out of sync, and from
  /// then on it does not count as `outdated` any more.
  void note_change(std::optional<storage::repo_status> before,
                   std::optional<storage::repo_status> after) noexcept {
    constexpr auto synced = storage::repo_status::synced;
    if (before != synced || after == synced)
      return;
    ++fallen;
    if (after != storage::repo_status::desync)
      return;
    auto left = outdated.load();
    while (left > 0 && !outdated.compare_exchange_weak(left, left - 1)) {
      // Another thread changed it: again, with what it is now.
    }
  }

  /// After `add` and `take_away`, of one repo.
  /// @param before How many waited.
  void note_waiting(uint64_t before, steady_time now) noexcept {
    const auto after = waiting();
    if (after > before && waits_since.load() == 0)
      waits_since = now.micros;
    if (after < before)
      waited_until = now.micros;
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
