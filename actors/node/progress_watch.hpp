#pragma once

#include "actors/support/context.hpp"

namespace caf {
class actor_system;
} // namespace caf

namespace weir::actors {

/// Spawns the actor that watches how things get on: it tells in the log how far
/// fetches are (`backfill_story`), and has READERs note how large the stores are.
/// `store_stats::waits_since` is set back when all is told.
common_actor spawn_progress_watch(caf::actor_system& system,
                                  context_ptr shared);

} // namespace weir::actors
