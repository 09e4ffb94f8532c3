#pragma once

#include "base/clock.hpp"
#include "storage/format/records.hpp"

#include <atomic>
#include <cstdint>
#include <optional>

namespace weir::actors {

/// Counts of the store's content. The JOURNAL writes them; any thread may read.
struct store_stats {
  /// Repos by `repo_status`. Index 0: those out of sync with an inactive
  /// account, so that nothing is fetched.
  std::atomic<uint64_t> repos[6] = {};
  /// Repos by `repo_status`, whatever the account's status: as `GET /repos`
  /// shows it.
  std::atomic<uint64_t> statuses[6] = {};
  /// The same by `account_status`.
  std::atomic<uint64_t> accounts[7] = {};
  /// Steady time when the first repo began to wait for its fetch; 0: no repo
  /// has since the story of the backfill set it back.
  std::atomic<int64_t> waits_since{0};
  std::atomic<int64_t> waited_until{0}; ///< When a repo last stopped waiting.
  /// Number of times a synced repo fell out of sync or was removed.
  std::atomic<uint64_t> fallen{0};
  /// Repos that were synced under other collections at the start, and have not
  /// fallen out of sync since.
  std::atomic<uint64_t> outdated{0};
  std::atomic<uint64_t> records{0};
  std::atomic<uint64_t> durable{0}; ///< Last id on disk.
  /// From this operation on none was trimmed (`storage::log_whole_from`).
  std::atomic<uint64_t> whole_from{1};
  /// Steady time when the write that is under way began; 0: none is.
  std::atomic<int64_t> writes_since{0};
  std::atomic<uint64_t> events{0}; ///< Number of events among the ids up to it.

  void add(storage::repo_status status,
           storage::account_status account) noexcept {
    ++of(status, account);
    ++statuses[static_cast<size_t>(status)];
    ++accounts[static_cast<size_t>(account)];
  }

  /// Reverses an earlier `add`.
  void take_away(storage::repo_status status,
                 storage::account_status account) noexcept {
    --of(status, account);
    --statuses[static_cast<size_t>(status)];
    --accounts[static_cast<size_t>(account)];
  }

  uint64_t count(storage::repo_status x) const noexcept {
    return repos[static_cast<size_t>(x)].load(std::memory_order_relaxed);
  }

  /// Repos that are to be fetched, or are being fetched.
  uint64_t waiting() const noexcept {
    return count(storage::repo_status::pending)
           + count(storage::repo_status::syncing)
           + count(storage::repo_status::desync);
  }

  /// The status of one repo changed; called together with `add` and
  /// `take_away`. A repo that is fetched again under other collections first
  /// falls out of sync, and from then on it does not count as `outdated`.
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
      // Another thread changed the value: try again with the new one.
    }
  }

  /// Called after `add` and `take_away` for one repo.
  /// @param before Number of waiting repos before the change.
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
