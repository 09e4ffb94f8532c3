#include "actors/node/partition.hpp"

#include "actors/consumer/consumer.hpp"
#include "actors/node/memory_plan.hpp"
#include "actors/reader/reader.hpp"
#include "actors/sweeper/sweeper.hpp"
#include "storage/disk/partition_stores.hpp"
#include "storage/disk/store_sizes.hpp"
#include "storage/log/log_blocks.hpp"

#include <caf/actor_system.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>

namespace weir::actors {

result<std::unique_ptr<partition>>
partition::open(partition_environment env,
                std::unique_ptr<storage::database> db) {
  const auto& seams = env.seams;
  auto store = open_store(env.config, *seams.time, std::move(db));
  if (!store)
    return store.error();
  auto& home = *env.home;
  home.numbers = (*store)->numbers;
  home.stats.durable = (*store)->writer->last_id();
  home.stats.events = (*store)->writer->log_events();
  home.growth.note(storage::store_sizes(*(*store)->db),
                   seams.time->steady_now());
  return std::make_unique<partition>(std::move(env), std::move(*store));
}

result<void> partition::load_consumer() {
  auto row = load_channel_consumer(*store_, env_.config.consumer_disable_acks,
                                   ran_before_);
  if (!row)
    return row.error();
  consumer_ = std::move(*row);
  const auto whole_from = storage::log_whole_from(*store_->db);
  if (!whole_from)
    return whole_from.error();
  env_.home->stats.whole_from = *whole_from;
  return {};
}

/// Without space the store can still be read, until NODE's room watch finds
/// enough space to open it again. Any other failure ends the node.
void partition::on_journal_failure(const error& why) const {
  if (why.code != ec::disk_full) {
    env_.on_failure(why);
    return;
  }
  env_.shared->intake.set(shortage::store, intake_level::no_requests,
                          "the disk of "
                            + storage::partition_directory(
                              env_.config.data_dir, env_.home->number)
                            + " is full: the store is only read until there is "
                              "room");
}

void partition::start_store(node_system& actors) {
  auto& system = *actors;
  auto& home = *env_.home;
  home.journal = spawn_journal(
    system, env_.shared, env_.home,
    {store_->writer.get(), store_->tail.get(),
     [this] { return store_->db->level0_files(); }, actors.before_wait()},
    [this](const error& why) { on_journal_failure(why); });
  actors.put_first(caf::actor_cast<caf::strong_actor_ptr>(home.journal));
  guard(env_.children, "journal", home.journal);
  const auto own_threads = env_.seams.run == nullptr;
  home.sweeper
    = spawn_sweeper(system, env_.shared, env_.home,
                    {store_->db.get(), store_->tail.get(), 0,
                     store_->names.get(), env_.config.log_retention},
                    own_threads);
  guard(env_.children, "sweeper", home.sweeper);
  for (size_t i = 0; i < env_.config.of_partition(env_.config.readers); ++i) {
    home.readers.push_back(
      spawn_reader(system, *store_->readers, own_threads));
    guard(env_.children, "reader", home.readers.back());
  }
}

result<void> partition::load_repos(uint32_t filter) {
  filter_generation_ = filter;
  auto known = actors::load_repos(*store_, *env_.shared, *env_.home, filter,
                                  env_.seams.end_wanted);
  if (!known)
    return known.error();
  known_ = std::move(*known);
  return {};
}

void partition::start_consumer(caf::actor_system& system) {
  const auto& config = env_.config;
  auto& home = *env_.home;
  delivery_options options;
  options.fire_and_forget = config.consumer_disable_acks;
  options.events_max = config.of_partition(config.consumer_window_events);
  options.bytes_max = config.of_partition(config.consumer_window_bytes);
  options.retry_timeout = config.consumer_retry;
  options.attempts_max = static_cast<uint32_t>(config.consumer_attempts_max);
  delivery_state state;
  state.position = consumer_.row.position(0);
  state.acked = std::move(consumer_.acked);
  state.durable = home.stats.durable;
  state.log_events = home.stats.events;
  state.settled = consumer_.row.settled;
  state.dead_letters = consumer_.row.dead_letters;
  state.current_before = consumer_.row.current_before;
  state.ran_before = ran_before_;
  home.consumer = spawn_consumer(
    system,
    {env_.shared, env_.home, store_->tail.get(), channel_consumer,
     store_->db->log_identity(), config.consumer_disable_acks},
    std::move(options), std::move(state));
  home.subscribers.add(home.consumer);
  guard(env_.children, "consumer", home.consumer);
}

void partition::start_readings(
  caf::actor_system& system, const std::shared_ptr<repo_metrics>& repos,
  const std::shared_ptr<const backfill_factory>& make_backfill) {
  start_consumer(system); // The CONSUMER reads the board of accounts.
  const auto& config = env_.config;
  const auto filter_of = [](const std::vector<std::string>& patterns) {
    return wire::collection_filter::parse(patterns).value();
  };
  auto settings = std::make_shared<repo_settings>();
  settings->filter = filter_of(config.collections);
  settings->filter_generation = filter_generation_;
  settings->retry_min = config.retry_backoff_min;
  settings->retry_max = config.retry_backoff_max;
  settings->refresh_min = config.identity_refresh_min;
  settings->listing_grace = config.listing_grace;
  settings->gone_grace = config.gone_grace;
  const repo_environment env{env_.shared, env_.home, settings, repos,
                             make_backfill};
  const auto make_repo = [&system, env](router_actor router, atproto::did repo,
                                        uint64_t incarnation) {
    return spawn_repo(system, std::move(router), env, std::move(repo),
                      incarnation);
  };
  const auto& places = env_.shared->places();
  for (size_t i = 0; i < known_.tracked.size(); ++i) {
    router_options options;
    options.mode = config.mode;
    options.residents.resident_max
      = std::min(residents_for(plan_memory(config).repos, places.routers()),
                 config.most.residents);
    options.signal = filter_of(config.signal_collections);
    routers_.push_back(spawn_router(system, env_.shared, env_.home, options,
                                    std::move(known_.tracked[i]), make_repo));
    guard(env_.children, "router", routers_.back());
    env_.shared->add_router(routers_.back());
  }
}

void partition::end_routers(const ender& end) {
  for (const auto& x : routers_)
    end(x);
  routers_.clear();
}

void partition::end_store(const ender& end) {
  end(env_.home->sweeper);
  end(env_.home->journal);
  for (const auto& x : env_.home->readers)
    end(x);
}

} // namespace weir::actors
