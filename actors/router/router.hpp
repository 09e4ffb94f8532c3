#pragma once

#include "actors/router/resident_machine.hpp"
#include "actors/router/tracked_repos.hpp"
#include "actors/router/tracking_machine.hpp"
#include "actors/support/context.hpp"
#include "atproto/identifiers.hpp"
#include "wire/filter.hpp"

#include <functional>

namespace weir::actors {

/// Makes a REPO; tests pass a fake.
using repo_factory = std::function<repo_actor(
  router_actor router, atproto::did repo, uint64_t incarnation)>;

struct router_options {
  tracking_mode mode = tracking_mode::manual;
  /// The collections that discover a repo, in mode `signal`.
  wire::collection_filter signal;
  resident_options residents;
};

/// Spawns one shard: it maps DIDs to REPOs, and keeps the tracked set.
///
/// Lifetime: NODE spawns it; when it dies, the program ends. A REPO that dies
/// is replaced as soon as work comes for its repo.
/// @param shared Has the ROUTERs before it, in the order of `placement`.
router_actor spawn_router(caf::actor_system& system, context_ptr shared,
                          home_ptr home, router_options options,
                          tracked_set tracked, repo_factory make_repo);

} // namespace weir::actors
