#pragma once

#include "actors/support/context.hpp"
#include "actors/support/store_growth.hpp"
#include "actors/support/store_stats.hpp"

#include <functional>

namespace caf {
class actor_system;
} // namespace caf

namespace weir::actors {

/// What it looks at; all of it lives longer.
struct progress_sources {
  const store_stats& stats;
  std::function<uint64_t()> store_bytes; ///< On disk.
  store_growth& growth;                  ///< Where that is noted.
};

/// Spawns the one who looks how things get on: it tells in the log how far
/// fetches are (`backfill_story`), and notes how the store grows.
common_actor spawn_progress_watch(caf::actor_system& system, context_ptr shared,
                                  progress_sources from);

} // namespace weir::actors
