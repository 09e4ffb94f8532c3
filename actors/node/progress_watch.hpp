#pragma once

#include "actors/support/context.hpp"

namespace caf {
class actor_system;
} // namespace caf

namespace weir::actors {

/// Spawns the actor that watches progress: it logs how far fetches are
/// (`backfill_story`) and has READERs measure the size of the stores. It resets
/// `store_stats::waits_since` when everything was reported.
common_actor spawn_progress_watch(caf::actor_system& system,
                                  context_ptr shared);

} // namespace weir::actors
