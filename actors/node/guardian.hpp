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

/// Adds a child without a `restart`.
template <class Handle>
void guard(std::vector<guarded_child>& children, std::string name,
           const Handle& x) {
  children.push_back(
    {std::move(name), caf::actor_cast<caf::strong_actor_ptr>(x), {}});
}

/// Spawns the supervisor at the root: one for one, 3 restarts in 10 s, then
/// `escalate` (actors.md, Rules). A child that ends without a failure is no
/// longer watched.
common_actor
spawn_guardian(caf::actor_system& system, context_ptr shared,
               std::vector<guarded_child> children,
               std::function<void(const error&)> escalate);

} // namespace weir::actors
