#pragma once

#include "actors/support/context.hpp"

namespace caf {
class actor_system;
} // namespace caf

namespace weir::actors {

/// Spawns NODE's health watch. Every `limits::health_check_interval` it judges
/// whether the clock is right and why most work fails, if it does. It logs each
/// cause once when it begins and once when it has ended, and stops intake while
/// the clock is in doubt. When the clock was set forward, repos that wait
/// because a rev was later than it are fetched at once.
///
/// Lifetime: that of NODE; its end ends the process.
common_actor spawn_health_watch(caf::actor_system& system, context_ptr shared);

} // namespace weir::actors
