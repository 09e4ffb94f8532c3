#pragma once

#include "actors/journal/batch_machine.hpp"
#include "actors/support/context.hpp"
#include "base/error.hpp"
#include "storage/disk/database.hpp"

#include <functional>

namespace weir::storage {
class committer;
class tail_cache;
} // namespace weir::storage

namespace weir::actors {

/// The parts of the store that the JOURNAL works on; all outlive it.
struct journal_store {
  storage::committer* writer = nullptr;
  storage::tail_cache* tail = nullptr;
  /// Returns the number of files that LevelDB has to merge.
  std::function<int()> level0_files;
  /// Called before each wait for the disk.
  std::function<void()> before_wait = [] {};
};

/// Spawns the only writer of a store.
///
/// # Threads
/// It waits for the disk on a thread of the scheduler, which therefore has one
/// more thread for each JOURNAL (docs/adr/0028-the-journal-in-the-pool.md).
///
/// # Order
/// An idle JOURNAL starts at once, with everything that has arrived: live
/// updates first, then backfill, at most `limits::journal_backfill_bytes_max` a
/// batch and none while LevelDB has to merge. One batch, one fsync; then
/// receipts, done marks, and the new durable id.
///
/// # Errors
/// A failed write is final: `on_failure` is called once (`ec::disk_full` when
/// there was no space). After that nothing is written, acknowledged or kept.
journal_actor spawn_journal(caf::actor_system& system, context_ptr shared,
                            home_ptr home, journal_store store,
                            std::function<void(const error&)> on_failure);

} // namespace weir::actors
