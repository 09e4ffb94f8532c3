#pragma once

#include "actors/support/context.hpp"

namespace caf {
class actor_system;
} // namespace caf

namespace weir::storage {
class database;
} // namespace weir::storage

namespace weir::actors {

/// What SWEEPER works on; outlives it.
struct sweeper_store {
  storage::database* db = nullptr;
  uint16_t partition = 0;
};

/// Spawns the SWEEPER of a store: takes what was erased off the disk, through
/// the JOURNAL, which is the only writer. On a thread of its own, because it
/// reads and compacts.
/// @param detached Tests run it on the test scheduler.
sweeper_actor spawn_sweeper(caf::actor_system& system, context_ptr shared,
                            sweeper_store store, bool detached = true);

} // namespace weir::actors
