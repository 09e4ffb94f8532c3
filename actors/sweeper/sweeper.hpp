#pragma once

#include "actors/support/context.hpp"
#include "base/process_memory.hpp"

#include <functional>

namespace caf {
class actor_system;
} // namespace caf

namespace weir::storage {
class database;
class tail_cache;
} // namespace weir::storage

namespace weir::actors {

/// What SWEEPER works on; outlives it.
struct sweeper_store {
  storage::database* db = nullptr;
  storage::tail_cache* tail = nullptr;
  uint16_t partition = 0;
  /// What the allocator keeps of memory that was freed.
  std::function<void()> give_back = return_free_memory;
};

/// Spawns the SWEEPER of a store: takes what was erased off the disk, through
/// the JOURNAL, which is the only writer, and lets the store give up its caches.
/// On a thread of its own, because it reads, writes tables and compacts.
/// @param detached Tests run it on the test scheduler.
sweeper_actor spawn_sweeper(caf::actor_system& system, context_ptr shared,
                            home_ptr home, sweeper_store store,
                            bool detached = true);

} // namespace weir::actors
