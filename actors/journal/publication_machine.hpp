#pragma once

#include "actors/support/account_board.hpp"
#include "actors/support/store_stats.hpp"
#include "base/metrics.hpp"
#include "base/position.hpp"
#include "storage/format/journal_batch.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace weir::actors {

/// Removed repos whose bytes have all left the disk. A CONSUMER may have read
/// their events before and keep them until an application connects. So the
/// board of accounts withholds them until all consumers are past the erasure.
/// One thread.
///
/// # Limits
/// One entry for each erasure that some consumer has not passed: never more
/// than there are operations after it.
class ended_erasures {
public:
  /// @param through The last operation that was erased.
  void add(atproto::did repo, storage::op_id through) {
    waiting_.emplace(through, std::move(repo));
  }

  /// A consumer has durably settled everything up to `position`.
  void note(const std::string& consumer, storage::op_id position) {
    positions_[consumer] = position;
  }

  /// Takes the repos whose erasure all consumers have passed, each once.
  /// @param consumers Number of consumers.
  std::vector<std::pair<storage::op_id, atproto::did>>
  take_passed(size_t consumers) {
    std::vector<std::pair<storage::op_id, atproto::did>> out;
    if (waiting_.empty() || positions_.size() < consumers)
      return out;
    auto least = std::numeric_limits<storage::op_id>::max();
    for (const auto& [name, position] : positions_)
      least = std::min(least, position);
    const auto end = waiting_.upper_bound(least);
    for (auto i = waiting_.begin(); i != end; ++i)
      out.emplace_back(i->first, std::move(i->second));
    waiting_.erase(waiting_.begin(), end);
    return out;
  }

private:
  std::multimap<storage::op_id, atproto::did> waiting_; ///< Keys: `through`.
  std::map<std::string, storage::op_id> positions_;
};

/// Counts the written changes of repos from one status to another (SYNC-02 to
/// SYNC-08): `weir_repo_status_changes_total{change="synced to desync"}`.
class status_changes {
public:
  explicit status_changes(metrics_registry& registry) : registry_(registry) {}

  /// @param before None: the repo is new.
  /// @param after None: the repo was removed.
  void note(std::optional<storage::repo_status> before,
            std::optional<storage::repo_status> after) {
    if (before == after)
      return;
    auto*& counter = counters_[index(before)][index(after)];
    if (counter == nullptr)
      counter = &registry_.counter(
        "weir_repo_status_changes_total",
        "Changes of the status of repos, by the status before and after",
        "change", name(before, "new") + " to " + name(after, "gone"));
    counter->add();
  }

private:
  static constexpr size_t statuses = 6; ///< 0 is none.

  static size_t index(std::optional<storage::repo_status> x) noexcept {
    return x ? static_cast<size_t>(*x) : 0;
  }

  static std::string name(std::optional<storage::repo_status> x,
                          const char* none) {
    return std::string{x ? storage::to_string(*x) : none};
  }

  metrics_registry& registry_;
  std::array<std::array<metric*, statuses>, statuses> counters_{};
};

/// What may be published of a batch that is on disk, and what changes with it:
/// counts, and the accounts whose events CONSUMERs withhold.
///
/// # Order
/// A frame is finished when its update is written: never before, and not when
/// the store refused the update, because then its REPO decides what to do with
/// the frame. Readers see only operations of the log that are durable.
///
/// # Ownership and threads
/// Writes counts and board, which outlive it and which others read. One thread.
class publication_machine {
public:
  struct effects {
    std::vector<position> done; ///< Frames that are finished.
    size_t erasings = 0;        ///< Repos whose bytes must leave the disk.
    size_t written = 0;         ///< Updates that were written.
    size_t refused = 0;         ///< Updates that were not written.
    uint64_t operations = 0;    ///< Those appended to the log.
  };

  publication_machine(store_stats& counts, account_board& accounts,
                      metrics_registry& metrics)
    : counts_(counts), accounts_(accounts), changes_(metrics) {}

  /// Processes one update of a batch with its receipt from the store.
  /// @param marks The frames that are finished with it.
  void on_update(const storage::repo_update& x,
                 const storage::update_receipt& receipt,
                 const std::vector<position>& marks, steady_time now,
                 effects& out) {
    if (x.erase)
      ++out.erasings;
    if (receipt.outcome != storage::update_outcome::done) {
      ++out.refused;
      return;
    }
    ++out.written;
    if (receipt.first != 0)
      out.operations += receipt.last - receipt.first + 1;
    out.done.insert(out.done.end(), marks.begin(), marks.end());
    if (x.row || x.forget || receipt.erased_through != 0)
      count(x, receipt, now);
    const auto before = x.base ? x.base->record_count : 0;
    const auto after = receipt.chain ? receipt.chain->record_count : 0;
    counts_.records += after - before;
  }

  /// The log is durable up to `last` and has `events` events.
  void on_log(storage::op_id last, uint64_t events) noexcept {
    counts_.durable = last;
    counts_.events = events;
  }

  /// Consumers have durably settled the log up to these positions.
  void on_consumers(const std::vector<storage::consumer_change>& changes) {
    for (const auto& x : changes)
      if (x.row)
        ended_.note(x.name, x.row->position(0));
  }

  /// The bytes of a removed repo have left the disk.
  void on_erased(const atproto::did& repo, storage::op_id through) {
    ended_.add(repo, through);
  }

  /// Removes entries that no consumer needs any more.
  /// @param consumers Number of consumers.
  void forget_erased(size_t consumers) {
    for (const auto& [through, repo] : ended_.take_passed(consumers)) {
      auto standing = accounts_.of(repo);
      if (standing.erased_through != through)
        continue; // The repo was erased again.
      standing.erased_through = 0;
      accounts_.put(repo, standing);
    }
  }

private:
  void count(const storage::repo_update& x,
             const storage::update_receipt& receipt, steady_time now) {
    auto standing = accounts_.of(x.repo);
    const auto waiting = counts_.waiting();
    if (x.old_status && (x.row || x.forget))
      counts_.take_away(*x.old_status, standing.account);
    if (x.row || x.forget) {
      const auto after = x.row ? std::optional{x.row->status} : std::nullopt;
      changes_.note(x.old_status, after);
      counts_.note_change(x.old_status, after);
    }
    if (x.row) {
      standing.account = x.row->account;
      standing.active = x.row->account == storage::account_status::active;
      counts_.add(x.row->status, x.row->account);
    }
    counts_.note_waiting(waiting, now);
    if (receipt.erased_through != 0)
      standing.erased_through = receipt.erased_through;
    accounts_.put(x.repo, standing);
  }

  store_stats& counts_;
  account_board& accounts_;
  status_changes changes_;
  ended_erasures ended_;
};

} // namespace weir::actors
