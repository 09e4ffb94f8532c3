#pragma once

#include "actors/node/executor.hpp"
#include "actors/node/guardian.hpp"
#include "actors/node/node.hpp"
#include "actors/node/store_set.hpp"
#include "actors/repo/repo.hpp"
#include "actors/support/context.hpp"

#include <functional>
#include <memory>
#include <vector>

namespace weir::actors {

/// What a partition is given by its node; all of it outlives the partition.
struct partition_environment {
  const node_config& config;
  const node_seams& seams;
  context_ptr shared;
  home_ptr home;
  std::function<void(const error&)> on_failure; ///< The node cannot go on.
};

/// One partition of a node: a store, the JOURNAL that alone writes it, and
/// everybody who works on the repos in it. NODE has a list of them, and beside
/// them what a process has once: streams, sockets, IDENTITY, the SUPERVISOR, whose
/// permits are all there are, and the API.
///
/// # Order
/// The functions are called in the order in which they stand here: first those
/// that begin, each for all partitions before the next one, then those that
/// end. An actor of one partition may then speak to those of another that were
/// begun by an earlier function.
///
/// # Ownership and threads
/// Owned by NODE. One thread at a time, none of an actor.
class partition {
public:
  /// @param db Its store, open.
  static result<std::unique_ptr<partition>>
  open(partition_environment env, std::unique_ptr<storage::database> db);

  partition(partition_environment env, std::unique_ptr<store_set> store);

  /// What it holds on disk. NODE may write rows of its own as long as there is
  /// no JOURNAL.
  store_set& store() noexcept { return *store_; }
  const store_set& store() const noexcept { return *store_; }

  /// The row of its CONSUMER, made if it is new. This writes, too.
  result<void> load_consumer();

  /// JOURNAL, SWEEPER and READERs.
  void start_store(caf::actor_system& system);

  /// Reads the rows of all repos.
  /// @param filter Generation of the collection filter in force.
  result<void> load_repos(uint32_t filter);

  /// The CONSUMER, and the ROUTERs behind those of the partitions before it.
  void start_readings(
    caf::actor_system& system, const std::shared_ptr<repo_metrics>& repos,
    const std::shared_ptr<const backfill_factory>& make_backfill);

  /// Some of its repos have quiet work (`has_quiet_work`), as they were read.
  bool has_quiet_work() const noexcept { return known_.quiet_work; }

  /// Those whose death the node has to know of; they are told once.
  std::vector<guarded_child> take_children();

  /// Ends an actor and returns when it is down; knows a handle of nobody.
  using ender = std::function<void(const caf::strong_actor_ptr&)>;

  void end_routers(const ender& end);
  void end_consumer(const ender& end);

  /// JOURNAL last but for the READERs: what came before is written.
  void end_store(const ender& end);

private:
  void start_consumer(caf::actor_system& system);
  void start_routers(
    caf::actor_system& system, const std::shared_ptr<repo_metrics>& repos,
    const std::shared_ptr<const backfill_factory>& make_backfill);
  void on_journal_failure(const error& why) const;
  void guard(std::string name, caf::strong_actor_ptr handle);

  partition_environment env_;
  std::unique_ptr<store_set> store_;
  storage::consumer_state consumer_; ///< As it was found.
  bool ran_before_ = false;          ///< The CONSUMER had a row.
  known_repos known_;
  uint32_t filter_generation_ = 0;
  std::vector<router_actor> routers_;
  std::vector<guarded_child> children_;
};

} // namespace weir::actors
