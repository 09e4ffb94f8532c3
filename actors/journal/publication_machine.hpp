#pragma once

#include "actors/journal/ended_erasures.hpp"
#include "actors/journal/status_changes.hpp"
#include "actors/support/account_board.hpp"
#include "actors/support/store_stats.hpp"
#include "base/position.hpp"
#include "storage/format/journal_batch.hpp"

#include <optional>
#include <vector>

namespace weir::actors {

/// What may be published of a batch that is on disk, and the node's counts that
/// change with it: repos by state, records, and the status of accounts, by
/// which CONSUMERs withhold events.
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
    size_t written = 0;         ///< Updates.
    size_t refused = 0;         ///< Updates that were not written.
    uint64_t operations = 0;    ///< Appended to the log.
  };

  publication_machine(store_stats& counts, account_board& accounts,
                      metrics_registry& metrics)
    : counts_(counts), accounts_(accounts), changes_(metrics) {}

  /// Processes one update of a batch with its receipt from the store.
  /// @param marks The frames that are finished with it.
  void on_update(const storage::repo_update& x,
                 const storage::update_receipt& receipt,
                 const std::vector<position>& marks, steady_time now,
                 effects& out);

  /// The log is durable up to `last` and has `events` events.
  void on_log(storage::op_id last, uint64_t events) noexcept;

  /// Consumers have durably settled the log up to these positions.
  void on_consumers(const std::vector<storage::consumer_change>& changes);

  /// The bytes of a removed repo have left the disk.
  void on_erased(const atproto::did& repo, storage::op_id through) {
    ended_.add(repo, through);
  }

  /// Removes entries that no consumer needs any more.
  /// @param consumers Number of consumers.
  void forget_erased(size_t consumers);

private:
  void count(const storage::repo_update& x,
             const storage::update_receipt& receipt, steady_time now);

  store_stats& counts_;
  account_board& accounts_;
  status_changes changes_;
  ended_erasures ended_;
};

} // namespace weir::actors
