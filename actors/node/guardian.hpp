#pragma once

#include "actors/support/context.hpp"
#include "base/error.hpp"

#include <caf/actor_control_block.hpp>

#include <functional>
#include <string>
#include <vector>

namespace weir::actors {

/// One child of NODE. Without `restart` its end ends the process: a normal
/// start is the recovery. A `restart` that fails must report that itself.
struct guarded_child {
  std::string name;
  caf::strong_actor_ptr handle;
  std::function<caf::strong_actor_ptr()> restart;
};

using guardian_actor = common_actor;

/// Spawns the supervisor at the root: one for one, 3 restarts in 10 s, then
/// `escalate` (actors.md, Rules). A child that ends without a failure is no
/// longer watched.
guardian_actor
spawn_guardian(caf::actor_system& system, context_ptr shared,
               std::vector<guarded_child> children,
               std::function<void(const error&)> escalate);

} // namespace weir::actors
