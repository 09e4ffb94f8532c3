#pragma once

#include "actors/support/context.hpp"
#include "base/error.hpp"
#include "messages/intake.hpp"

#include <functional>

namespace caf {
class actor_system;
} // namespace caf

namespace weir::actors {

struct room_watch_options {
  uint64_t disk_reserve = 0; ///< Of `disk_reserve()`.
};

/// Spawns NODE's eye on room (reliability.md P13): looks at the disk every
/// `limits::room_check_interval`, keeps the intake board, and tells UPSTREAMs
/// and the SUPERVISOR when it changes.
///
/// # Errors
/// A store that found no space is closed for writing. When there is ample room
/// again, `reopen` is called once, with `ec::disk_full`.
room_actor spawn_room_watch(caf::actor_system& system, context_ptr shared,
                            room_watch_options options,
                            std::function<void(const error&)> reopen);

} // namespace weir::actors
