#pragma once

#include "actors/support/context.hpp"
#include "base/process.hpp"

#include <chrono>
#include <functional>

namespace weir::storage {
class collection_table;
class database;
class tail_cache;
} // namespace weir::storage

namespace weir::actors {

/// What SWEEPER works on. It outlives SWEEPER.
struct sweeper_store {
  storage::database* db = nullptr;
  storage::tail_cache* tail = nullptr;
  uint16_t partition = 0;
  storage::collection_table* names = nullptr;
  /// How long the log keeps what is spent; 0: for ever.
  std::chrono::seconds retention{0};
  /// Returns freed memory that the allocator kept.
  std::function<void()> give_back = return_free_memory;
};

/// Spawns the SWEEPER of a store. Through the JOURNAL, which is the only
/// writer, it removes from the disk what was erased, and what is spent from the
/// log; and it makes the store release its caches. It has a thread of its own,
/// because it uses the disk.
/// @param detached False in tests, which run it on the test scheduler.
sweeper_actor spawn_sweeper(caf::actor_system& system, context_ptr shared,
                            home_ptr home, sweeper_store store,
                            bool detached = true);

} // namespace weir::actors
