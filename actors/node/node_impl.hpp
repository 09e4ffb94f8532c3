#pragma once

#include "actors/node/node.hpp"

#include "actors/api/api.hpp"
#include "actors/backfill/backfill.hpp"
#include "actors/backfill/fetch_bridge.hpp"
#include "actors/consumer/consumer.hpp"
#include "actors/identity/identity.hpp"
#include "actors/identity/identity_bridge.hpp"
#include "actors/node/actor_config.hpp"
#include "actors/node/executor.hpp"
#include "actors/node/guardian.hpp"
#include "actors/node/health_watch.hpp"
#include "actors/node/memory_plan.hpp"
#include "actors/node/network.hpp"
#include "actors/node/progress_watch.hpp"
#include "actors/node/room_watch.hpp"
#include "actors/node/spools.hpp"
#include "actors/node/store_set.hpp"
#include "actors/reader/reader.hpp"
#include "actors/repo/repo.hpp"
#include "actors/supervisor/account_bridge.hpp"
#include "actors/supervisor/listing_bridge.hpp"
#include "actors/supervisor/supervisor.hpp"
#include "actors/sweeper/sweeper.hpp"
#include "actors/upstream/stream_bridge.hpp"
#include "base/log.hpp"
#include "base/version.hpp"
#include "storage/tables/upstream_table.hpp"

#include <caf/actor_system.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <thread>

namespace weir::actors {

/// The parts of a node, in the order in which they start.
struct node::impl {
  node_config config;
  std::function<void(const error&)> on_failure;
  node_seams seams; ///< Clock and randomness are there, the rest may be null.

  std::unique_ptr<store_set> store;
  network net;
  std::unique_ptr<actor_config> caf_config;
  std::unique_ptr<caf::actor_system> system;
  context_ptr shared = std::make_shared<context>();
  std::shared_ptr<repo_metrics> repos;
  std::shared_ptr<access_control> access;
  std::shared_ptr<store_growth> growth = std::make_shared<store_growth>();
  std::shared_ptr<consumer_stats> outbox = std::make_shared<consumer_stats>();
  std::shared_ptr<std::atomic<bool>> ready
    = std::make_shared<std::atomic<bool>>(false);
  std::vector<guarded_child> children;
  uint32_t filter_generation = 0;
  uint64_t outdated = 0; ///< `node_holdings::outdated`.
  bool quiet_work = false; ///< Some repos have it: `has_quiet_work`.
  std::vector<upstream_actor> upstreams;
  consumer_actor consumer;
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

  /// @param owner For `node_seams::opened`.
  result<void> start(const node& owner);
  void start_system();
  void start_store_actors();
  void on_journal_failure(const error& why);
  size_t shard_count() const;
  backfill_factory backfills();
  void start_routers(known_repos known);
  result<void>
  start_supervisor(const std::vector<storage::upstream_row>& streams);
  std::vector<std::string> listed_collections() const;
  void start_consumer(storage::consumer_state known, bool ran_before);
  result<void> start_servers();
  void show_upstreams(const std::vector<storage::upstream_row>& rows);
  void start_upstreams(const std::vector<storage::upstream_row>& rows);
  upstream_actor spawn_stream(const storage::upstream_row& row);
  void guard(std::string name, caf::strong_actor_ptr handle);
  void start_room_watch();
  void start_health_watch();
  void start_progress_watch();
  void add_gauges();
  void stop();
  void wait_for(caf::scoped_actor& self, const caf::strong_actor_ptr& x);
};

} // namespace weir::actors
