#pragma once

#include "actors/consumer/delivery_types.hpp"
#include "actors/support/context.hpp"

#include <string>

namespace weir::storage {
class tail_cache;
} // namespace weir::storage

namespace weir::actors {

struct consumer_environment {
  context_ptr shared;
  home_ptr home;
  storage::tail_cache* tail = nullptr; ///< It outlives the actor.
  std::string name;
  uint64_t log_identity = 0;
  bool fire_and_forget = false; ///< This is noted in its row.
};

/// Spawns the CONSUMER of one named reading of the log. `/channel` clients are
/// its sessions and share its events.
///
/// Lifetime: spawned by NODE, from its stored row.
consumer_actor spawn_consumer(caf::actor_system& system,
                              consumer_environment env,
                              delivery_options options, delivery_state state);

} // namespace weir::actors
