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

/// What may be told of a batch that is on disk, and what the node counts of its
/// repos because of it: repos by state, records, and the standing of accounts,
/// by which CONSUMERs withhold events.
///
/// # Order
/// A frame is finished when its update is written: never before, and not when
/// the store refused the update, because then its REPO decides what becomes of
/// it. The log has grown for its readers only with operations that are durable.
///
/// # Ownership and threads
/// Writes counts and board, which outlive it and others read. One thread.
class publication_machine {
public:
  struct effects {
    std::vector<position> done; ///< Frames that are finished.
    size_t erasings = 0;        ///< Repos whose bytes are to leave the disk.
    size_t written = 0;         ///< Updates.
    size_t refused = 0;         ///< Updates that were not written.
    uint64_t operations = 0;    ///< Appended to the log.
  };

  publication_machine(store_stats& counts, account_board& accounts,
                      metrics_registry& metrics)
    : counts_(counts), accounts_(accounts), changes_(metrics) {
    // nop
  }

  /// One update of a batch and what the store answered.
  /// @param marks The frames that are finished with it.
  void on_update(const storage::repo_update& x,
                 const storage::update_receipt& receipt,
                 const std::vector<position>& marks, steady_time now,
                 effects& out);

  /// The log is durable up to `last`, with so many events.
  void on_log(storage::op_id last, uint64_t events) noexcept;

  /// How far consumers have settled the log on disk.
  void on_consumers(const std::vector<storage::consumer_change>& changes);

  /// The bytes of a removed repo have left the disk.
  void on_erased(const atproto::did& repo, storage::op_id through) {
    ended_.add(repo, through);
  }

  /// Forgets what nobody has to withhold any more.
  /// @param consumers How many there are.
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
