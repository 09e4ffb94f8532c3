#pragma once

#include "actors/node/node.hpp"

#include "actors/api/api.hpp"
#include "actors/identity/identity.hpp"
#include "actors/identity/identity_bridge.hpp"
#include "actors/node/executor.hpp"
#include "actors/node/guardian.hpp"
#include "actors/node/memory_plan.hpp"
#include "actors/node/network.hpp"
#include "actors/node/partition.hpp"
#include "actors/node/watches.hpp"
#include "actors/supervisor/supervisor.hpp"
#include "actors/upstream/stream_bridge.hpp"
#include "base/log.hpp"
#include "base/version.hpp"
#include "storage/tables/upstream_table.hpp"

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

namespace weir::actors {

/// CAF's settings, which come from code alone, not from a file or arguments
/// (ADR 1, 11). It registers the messages that travel between nodes. One queue,
/// one thread for each core, bounded turns (ADR 6).
class actor_config : public caf::actor_system_config {
public:
  /// @param run Null: CAF's own threads.
  explicit actor_config(size_t threads, executor* run = nullptr);
};

/// The parts that a process has once, and the partitions, in the order in which
/// they start.
struct node::impl {
  node_config config;
  std::function<void(const error&)> on_failure;
  node_seams seams; ///< Clock and randomness are set; the rest may be null.

  context_ptr shared = std::make_shared<context>();
  std::vector<std::unique_ptr<partition>> partitions;
  network net;
  std::unique_ptr<actor_config> caf_config;
  std::unique_ptr<caf::actor_system> system;
  std::shared_ptr<repo_metrics> repos;
  std::shared_ptr<access_control> access;
  std::shared_ptr<std::atomic<bool>> ready
    = std::make_shared<std::atomic<bool>>(false);
  std::vector<guarded_child> children;
  uint32_t filter_generation = 0;
  uint64_t outdated = 0; ///< `node_holdings::outdated`.
  std::vector<upstream_actor> upstreams;
  guardian_actor guardian;
  room_actor room;
  common_actor health;
  common_actor progress;
  api faces;
  std::shared_ptr<net::http_server> data;
  std::shared_ptr<net::http_server> operations;
  std::string data_url;
  std::string operations_url;
  bool stopped = false;

  /// The process ends with this actor, unless its child has a `restart`.
  template <class Handle>
  void guard(std::string name, const Handle& x) {
    children.push_back(
      {std::move(name), caf::actor_cast<caf::strong_actor_ptr>(x), {}});
  }

  /// @param owner For `node_seams::opened`.
  result<void> start(const node& owner);
  result<void> open_partitions();
  /// The partition whose store also has the rows of the whole node.
  partition& root() { return *partitions.front(); }
  void start_system();
  void start_identity();
  result<void> start_partitions();
  backfill_factory backfills();
  supervisor_environment environment_of_supervisor() const;
  result<void>
  start_supervisor(const std::vector<storage::upstream_row>& streams);
  result<void> start_servers();
  void show_upstreams(const std::vector<storage::upstream_row>& rows);
  void start_upstreams(const std::vector<storage::upstream_row>& rows);
  upstream_actor spawn_stream(const storage::upstream_row& row);
  void start_watches();
  void start_guardian();
  void add_gauges();
  void stop();
  void stop_actors();
  void wait_for(caf::scoped_actor& self, const caf::strong_actor_ptr& x);
};

} // namespace weir::actors
