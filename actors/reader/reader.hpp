#pragma once

#include "messages/interfaces.hpp"
#include "messages/journal.hpp"

namespace caf {
class actor_system;
} // namespace caf

namespace weir::actors {

/// Spawns one READER of the pool. It has a thread of its own by default,
/// because its jobs touch the disk.
/// @param store Outlives the actor.
reader_actor spawn_reader(caf::actor_system& system, store_readers& store,
                          bool detached = true);

} // namespace weir::actors
