#pragma once

#include "actors/repo/repo_types.hpp"
#include "actors/support/context.hpp"
#include "messages/interfaces.hpp"

#include <functional>
#include <memory>

namespace caf {
class actor_system;
} // namespace caf

namespace weir::actors {

/// Counters of all REPOs of a node, one a `repo_counter`.
struct repo_metrics {
  explicit repo_metrics(metrics_registry& registry);

  std::vector<metric*> events;
  metric* waiting = nullptr; ///< Frames that all REPOs hold back now.
};

/// Starts the download of a repo, for its REPO.
using backfill_factory = std::function<backfill_actor(
  const atproto::did& repo, fetch_order order, repo_actor from)>;

/// Everything a REPO is made of besides its DID.
struct repo_environment {
  context_ptr shared;
  home_ptr home;
  repo_settings_ptr settings;
  std::shared_ptr<repo_metrics> metrics;
  std::shared_ptr<const backfill_factory> make_backfill;
};

/// Spawns the REPO of one account. It loads its rows by itself and holds what
/// arrives until they are there.
///
/// Lifetime: spawned and monitored by its ROUTER shard, which alone may do so;
/// ends when told to passivate and idle, when its repo is removed, or when its
/// update does not fit what is stored. A successor starts from the store.
/// @param incarnation Goes with every update; late updates of a predecessor
/// with a lower one are refused.
repo_actor spawn_repo(caf::actor_system& system, router_actor router,
                      const repo_environment& env, atproto::did repo,
                      uint64_t incarnation);

} // namespace weir::actors
