#include "actors/node/node.hpp"

#include "actors/node/actor_setup.hpp"
#include "actors/node/guardian.hpp"
#include "actors/node/limits.hpp"
#include "actors/node/memory_plan.hpp"
#include "actors/node/node_servers.hpp"
#include "actors/node/node_system.hpp"
#include "actors/node/partition.hpp"
#include "actors/node/watches.hpp"
#include "actors/support/node_sums.hpp"
#include "storage/disk/safe_env.hpp"
#include "storage/tables/upstream_table.hpp"

#include <caf/scoped_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>
#include <thread>

namespace weir::actors {

namespace {

size_t cores() {
  return std::max(1u, std::thread::hardware_concurrency());
}

} // namespace

/// The parts that a process has once, and the partitions, in the order in which
/// they start.
struct node::impl {
  node_config config;
  std::function<void(const error&)> on_failure;
  node_seams seams; ///< Clock and randomness are set; the rest may be null.

  context_ptr shared = std::make_shared<context>();
  std::vector<std::unique_ptr<partition>> partitions;
  network net;
  node_system system;
  std::shared_ptr<repo_metrics> repos;
  node_servers servers;
  std::shared_ptr<std::atomic<bool>> ready
    = std::make_shared<std::atomic<bool>>(false);
  std::vector<guarded_child> children;
  std::vector<storage::upstream_row> streams; ///< As they were at the start.
  uint32_t filter_generation = 0;
  uint64_t outdated = 0; ///< `node_holdings::outdated`.
  common_actor guardian;
  std::vector<common_actor> watches;
  bool stopped = false;

  result<void> start(const node& owner);
  result<void> open_partitions();
  /// The partition whose store also has the rows of the whole node.
  partition& root() { return *partitions.front(); }
  result<void> open_network();
  result<void> load_rows();
  result<void> start_stores();
  result<void> start_partitions();
  actor_setup setup() const { return {*system, config, shared, net}; }
  result<void> start_supervisor();
  result<void> start_servers();
  void show_upstreams();
  void start_upstreams();
  void start_watches();
  void stop();
  void stop_actors();
};

result<void> node::impl::start(const node& owner) {
  if (const auto problems = config.problems(); !problems.empty())
    return fail(ec::invalid_argument, problems.front());
  for (const auto step :
       {&impl::open_partitions, &impl::open_network, &impl::load_rows,
        &impl::start_stores, &impl::start_partitions, &impl::start_supervisor,
        &impl::start_servers}) {
    if (auto ok = go_on_unless(seams.end_wanted); !ok)
      return ok;
    if (auto ok = (this->*step)(); !ok)
      return ok;
  }
  if (seams.opened)
    seams.opened(owner);
  start_upstreams();
  start_watches();
  add_gauges(shared, partitions);
  guardian = spawn_guardian(*system, shared, std::move(children), on_failure);
  ready->store(true);
  return {};
}

result<void> node::impl::open_partitions() {
  shared->time = seams.time;
  shared->random = seams.random;
  const auto routers
    = config.most.routers == 0 ? 2 * cores() : config.most.routers;
  shared->divide({static_cast<uint16_t>(config.partitions),
                  config.of_partition(routers)});
  auto stores
    = open_stores(config, *seams.random, seams.disk, seams.end_wanted);
  if (!stores)
    return stores.error();
  std::vector<const store_readers*> readers;
  for (const auto& home : shared->partitions()) {
    if (auto ok = go_on_unless(seams.end_wanted); !ok)
      return ok;
    auto opened
      = partition::open({config, seams, shared, home, on_failure, children},
                        std::move((*stores)[home->number]));
    if (!opened)
      return opened.error();
    partitions.push_back(std::move(*opened));
    readers.push_back(partitions.back()->store().readers.get());
  }
  shared->stores = {shared->places(), std::move(readers)};
  shared->log_epoch
    = shared->root().numbers.name_of(root().store().db->log_identity());
  return {};
}

result<void> node::impl::open_network() {
  auto sockets = make_network(config, *seams.time, seams.transport, seams.tls);
  if (!sockets)
    return sockets.error();
  net = std::move(*sockets);
  if (net.threads)
    net.threads->start();
  return {};
}

/// Loads rows and writes new ones without a JOURNAL, since there is none yet.
/// Later only the JOURNALs write.
result<void> node::impl::load_rows() {
  auto rows = load_upstreams(root().store(), config.upstreams);
  if (!rows)
    return rows.error();
  streams = std::move(*rows);
  const auto filter
    = load_filter(root().store(),
                  wire::collection_filter::parse(config.collections).value());
  if (!filter)
    return filter.error();
  filter_generation = *filter;
  for (const auto& x : partitions) {
    if (auto ok = go_on_unless(seams.end_wanted); !ok)
      return ok;
    if (auto ok = x->load_consumer(); !ok)
      return ok;
  }
  return {};
}

result<void> node::impl::start_stores() {
  shared->signers.begin(seams.random->next(), streams.size());
  shared->health.with([this](health_machine& x) {
    x.begin(config.plc_url, config.handle_resolver_url);
  });
  const auto threads = config.threads == 0 ? cores() : config.threads;
  // A JOURNAL that waits for the disk takes none of the others' threads.
  system.start(threads + partitions.size(), seams.run,
               [this] {
                 for (const auto& x : partitions)
                   x->store().db->files().wait_until_idle();
               });
  for (const auto& x : partitions)
    x->start_store(system);
  shared->identity = setup().identity();
  guard(children, "identity", shared->identity);
  // Rows with reports of relays that are no longer followed need work.
  show_upstreams();
  return {};
}

/// Makes one step at a time, for all partitions.
result<void> node::impl::start_partitions() {
  for (const auto& x : partitions)
    if (auto ok = x->load_repos(filter_generation); !ok)
      return ok;
  outdated = shared->sum(&store_stats::outdated);
  shared->kept_frames->set_most(
    {plan_memory(config).document_waits, limits::document_wait_disk_bytes_max});
  repos = std::make_shared<repo_metrics>(shared->metrics);
  const auto make_backfill
    = std::make_shared<const backfill_factory>(setup().backfills());
  for (const auto& x : partitions)
    x->start_readings(*system, repos, make_backfill);
  return {};
}

result<void> node::impl::start_supervisor() {
  const auto quiet_work = std::ranges::any_of(partitions, [](const auto& x) {
    return x->has_quiet_work();
  });
  auto env = setup().environment_of_supervisor(filter_generation, quiet_work);
  auto listed = env.signal_collections;
  if (!env.holders_listing.empty())
    listed.push_back(env.holders_listing);
  auto listings = load_listings(root().store(), streams, listed);
  if (!listings)
    return listings.error();
  env.listings = std::move(*listings);
  guard(children, "supervisor", setup().supervisor(std::move(env)));
  return {};
}

result<void> node::impl::start_servers() {
  std::vector<storage::database*> stores;
  for (const auto& x : partitions)
    stores.push_back(x->store().db.get());
  shared->backup = setup().backup(std::move(stores), seams.disk, !seams.run);
  guard(children, "backup", shared->backup);
  api_environment env;
  env.shared = shared;
  env.consumer_name = channel_consumer;
  env.waiting = repos->waiting;
  env.lookups_per_second = config.plc_per_second;
  env.mode = config.mode;
  env.signal_collections = config.signal_collections;
  env.collections = config.collections;
  env.filter_generation = filter_generation;
  env.ready = ready;
  env.request_bytes_max = plan_memory(config).requests;
  auto ok = servers.start(*system, std::move(env), config, net.transport,
                          *seams.time);
  if (ok)
    guard(children, "api", servers.faces.actor);
  return ok;
}

/// REPOs must see the upstreams from the first moment, for the host rule.
void node::impl::show_upstreams() {
  for (const auto& row : streams) {
    upstream_view view;
    view.id = row.id;
    view.origin = row.url;
    view.relay = row.relay;
    view.epoch = row.epoch;
    view.first_cursor = row.reset_pending ? 0 : row.first_cursor;
    view.cursor = row.cursor;
    shared->upstreams.put(view);
  }
}

void node::impl::start_upstreams() {
  for (const auto& row : streams) {
    guard(children, "upstream", setup().stream(row));
    children.back().restart = [this, id = row.id]() -> caf::strong_actor_ptr {
      // Restart from its row: frames that were in flight come again.
      const auto known = storage::load_upstreams(*root().store().db);
      if (known)
        for (const auto& x : *known)
          if (x.id == id)
            return caf::actor_cast<caf::strong_actor_ptr>(setup().stream(x));
      on_failure(fail(ec::storage_failure, "an upstream's row is unreadable"));
      return nullptr;
    };
  }
}

void node::impl::start_watches() {
  room_watch_options options;
  options.data_dir = config.data_dir;
  options.disk_reserve = config.disk_reserve;
  options.memory_limit = config.memory_limit;
  if (seams.resident)
    options.resident = seams.resident;
  const auto watch = [this](std::string name, common_actor x) {
    guard(children, std::move(name), x);
    watches.push_back(std::move(x));
  };
  watch("room",
        spawn_room_watch(*system, shared, std::move(options), on_failure));
  watch("health", spawn_health_watch(*system, shared));
  watch("progress", spawn_progress_watch(*system, shared));
}

/// Ends intake first, then the actors that work on it, the stores last.
void node::impl::stop_actors() {
  caf::scoped_actor self{*system};
  // The context keeps its handles until no actor reads them any more.
  const auto end = [&](const common_actor& x) {
    if (!x)
      return;
    self->send(x, stop_actor{});
    system.wait_for(self, caf::actor_cast<caf::strong_actor_ptr>(x));
  };
  end(guardian);
  for (const auto& x : watches)
    end(x);
  end(shared->backup);
  if (servers.data)
    servers.data->stop_listening();
  for (const auto& x : shared->all_upstreams())
    self->send(x, stop_actor{});
  for (const auto& x : shared->all_upstreams())
    system.wait_for(self, caf::actor_cast<caf::strong_actor_ptr>(x));
  end(shared->supervisor);
  for (const auto& x : partitions)
    x->end_routers(end);
  end(shared->identity);
  for (const auto& x : partitions)
    x->end_consumer(end);
  if (servers.faces.stop)
    servers.faces.stop();
  for (const auto& x : partitions)
    x->end_store(end);
}

void node::impl::stop() {
  if (stopped || !system)
    return;
  stopped = true;
  ready->store(false);
  stop_actors();
  servers.data = nullptr;
  servers.operations = nullptr;
  if (net.threads) {
    net.threads->stop();
    net.threads->join();
  }
  system.wait_for_all();
  servers.faces = {};
  children.clear();
  guardian = nullptr;
  watches.clear();
  shared->clear();
  net.guarded = nullptr; // Clients end before the loops that they run on.
  net.configured = nullptr;
  net.tls = nullptr;
  net.transport = nullptr;
  // This also releases handles of requests that were never answered.
  net.threads = nullptr;
  system.reset();
}

node::node(std::unique_ptr<impl> x) noexcept : impl_(std::move(x)) {}

node::~node() {
  stop();
}

result<std::unique_ptr<node>>
node::start(node_config config, std::function<void(const error&)> on_failure,
            node_seams seams) {
  auto made = std::make_unique<impl>();
  made->config = std::move(config);
  made->on_failure = std::move(on_failure);
  if (seams.time == nullptr)
    seams.time = &system_clock();
  if (seams.random == nullptr)
    seams.random = &system_random();
  if (!seams.end_wanted)
    seams.end_wanted = [] {
      return false;
    };
  made->seams = std::move(seams);
  std::unique_ptr<node> out{new node{std::move(made)}};
  if (auto ok = out->impl_->start(*out); !ok)
    return ok.error();
  return out;
}

const std::string& node::log_epoch() const noexcept {
  return impl_->shared->log_epoch;
}

const std::string& node::data_url() const noexcept {
  return impl_->servers.data_url;
}

const std::string& node::operations_url() const noexcept {
  return impl_->servers.operations_url;
}

void node::stop() {
  impl_->stop();
}

node_holdings node::holdings() const {
  const auto& shared = *impl_->shared;
  return {repo_count(shared), storage::total_bytes(store_sizes(shared)),
          impl_->outdated};
}

void node::set_admin_password(const std::string& x) {
  impl_->servers.access->set_password(x);
}

metrics_registry& node::metrics() noexcept {
  return impl_->shared->metrics;
}

} // namespace weir::actors
