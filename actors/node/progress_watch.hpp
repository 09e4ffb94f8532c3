#pragma once

#include "actors/support/context.hpp"
#include "actors/support/store_growth.hpp"
#include "actors/support/store_stats.hpp"

#include <memory>

namespace caf {
class actor_system;
} // namespace caf

namespace weir::actors {

/// Spawns the actor that watches how things get on: it tells in the log how far
/// fetches are (`backfill_story`), and has a READER note how large the store is.
/// @param stats Lives longer. Its `waits_since` is set back when all is told.
common_actor spawn_progress_watch(caf::actor_system& system, context_ptr shared,
                                  store_stats& stats,
                                  std::shared_ptr<store_growth> growth);

} // namespace weir::actors
