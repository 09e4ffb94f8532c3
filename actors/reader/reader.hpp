#pragma once

#include "messages/interfaces.hpp"
#include "messages/journal.hpp"

namespace weir::actors {

/// Spawns a READER of the pool, on a thread of its own: its jobs use the disk.
/// @param store Outlives the actor.
reader_actor spawn_reader(caf::actor_system& system, store_readers& store,
                          bool detached = true);

} // namespace weir::actors
