#pragma once

#include "actors/node/guardian.hpp"
#include "actors/node/node.hpp"
#include "actors/node/node_system.hpp"
#include "actors/node/store_set.hpp"
#include "actors/repo/repo.hpp"
#include "actors/support/context.hpp"

#include <functional>
#include <memory>
#include <vector>

namespace weir::actors {

/// What a partition gets from its node; all of it outlives the partition.
struct partition_environment {
  const node_config& config;
  const node_seams& seams;
  context_ptr shared;
  home_ptr home;
  /// Called when the node cannot go on.
  std::function<void(const error&)> on_failure;
  std::vector<guarded_child>& children; ///< It gets those of the partition.
};

/// One partition of a node: a store, the JOURNAL that alone writes it, and all
/// actors that work on the repos in it. NODE has a list of partitions. Besides
/// them it has what a process has once: streams, sockets, IDENTITY, the
/// SUPERVISOR, which gives all permits, and the API.
///
/// # Order
/// The functions are called in the order of their declaration: first those that
/// start something, each for all partitions before the next one, then those
/// that end something. An actor may therefore send messages to actors of other
/// partitions that an earlier function started.
///
/// # Ownership and threads
/// Owned by NODE. One thread at a time, never that of an actor.
class partition {
public:
  /// @param db Its store, open.
  static result<std::unique_ptr<partition>>
  open(partition_environment env, std::unique_ptr<storage::database> db);

  partition(partition_environment env, std::unique_ptr<store_set> store)
    : env_(std::move(env)), store_(std::move(store)) {}

  /// Its data on disk. NODE may write rows of its own as long as there is no
  /// JOURNAL.
  store_set& store() noexcept { return *store_; }

  /// Loads the row of its CONSUMER, and writes it when it is new.
  result<void> load_consumer();

  /// Starts JOURNAL, SWEEPER and READERs. The JOURNAL overtakes all other
  /// actors (ADR 28).
  void start_store(node_system& actors);

  /// Reads the rows of all repos.
  /// @param filter Current generation of the collection filter.
  result<void> load_repos(uint32_t filter);

  /// Starts the CONSUMER, and the ROUTERs after those of earlier partitions.
  void
  start_readings(caf::actor_system& system,
                 const std::shared_ptr<repo_metrics>& repos,
                 const std::shared_ptr<const backfill_factory>& make_backfill);

  /// Whether any of its repos had quiet work (`has_quiet_work`) when they were
  /// read.
  bool has_quiet_work() const noexcept { return known_.quiet_work; }

  /// Ends an actor and returns when it is down; keeps no handle of it.
  using ender = std::function<void(const common_actor&)>;

  void end_routers(const ender& end);

  void end_consumer(const ender& end) { end(env_.home->consumer); }

  /// The JOURNAL ends after everything that was sent before is written; only
  /// the READERs end later.
  void end_store(const ender& end);

private:
  void start_consumer(caf::actor_system& system);
  void on_journal_failure(const error& why) const;

  partition_environment env_;
  std::unique_ptr<store_set> store_;
  storage::consumer_state consumer_; ///< Its state as it was loaded.
  bool ran_before_ = false;          ///< The CONSUMER had a row.
  known_repos known_;
  uint32_t filter_generation_ = 0;
  std::vector<router_actor> routers_;
};

/// Adds the figures of the stores, the repos and the CONSUMER to the metrics of
/// the node, as sums over its partitions, and those of its streams.
/// @param partitions Must live as long as the metrics are read.
void add_gauges(const context_ptr& shared,
                const std::vector<std::unique_ptr<partition>>& partitions);

} // namespace weir::actors
