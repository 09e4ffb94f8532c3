#pragma once

#include "actors/repo/repo_types.hpp"
#include "actors/support/context.hpp"
#include "messages/interfaces.hpp"

#include <functional>
#include <memory>

namespace weir::actors {

/// Counters of all REPOs of a node, one for each `repo_counter`.
struct repo_metrics {
  explicit repo_metrics(metrics_registry& registry);

  std::vector<metric*> events;
  metric* waiting = nullptr; ///< Frames that wait in all REPOs now.
};

/// Starts the download of a repo for its REPO.
using backfill_factory = std::function<backfill_actor(
  const atproto::did& repo, fetch_order order, repo_actor from)>;

/// Everything that a REPO is made of besides its DID.
struct repo_environment {
  context_ptr shared;
  home_ptr home;
  repo_settings_ptr settings;
  std::shared_ptr<repo_metrics> metrics;
  std::shared_ptr<const backfill_factory> make_backfill;
};

/// Spawns the REPO of one account. The REPO loads its rows by itself and keeps
/// arriving messages until the rows are there.
///
/// Lifetime: only its ROUTER shard spawns and monitors it. It ends when it is
/// idle and asked to passivate, when its repo is removed, or when its update
/// does not fit what is stored. A successor starts from the store.
/// @param incarnation Sent with every update: those of a lower one are refused.
repo_actor spawn_repo(caf::actor_system& system, router_actor router,
                      const repo_environment& env, atproto::did repo,
                      uint64_t incarnation);

} // namespace weir::actors
