#include "actors/node/node_impl.hpp"
#include "actors/support/limits.hpp"

#include "storage/disk/safe_env.hpp"
#include "storage/disk/store_sizes.hpp"

namespace weir::actors {

namespace {

size_t cores() {
  return std::max(1u, std::thread::hardware_concurrency());
}

wire::collection_filter filter_of(const std::vector<std::string>& patterns) {
  return wire::collection_filter::parse(patterns).value();
}

/// Of PDSs, for these patterns: with others all repos are asked about again.
std::string holders_listing(const std::vector<std::string>& patterns) {
  const auto filter = filter_of(patterns);
  std::string all;
  for (const auto& x : filter.patterns())
    all += x + ' ';
  return "signal-" + std::to_string(atproto::stable_hash(all));
}

} // namespace

void node::impl::guard(std::string name, caf::strong_actor_ptr handle) {
  children.push_back({std::move(name), std::move(handle), {}});
}

result<void> node::impl::start(const node& owner) {
  if (const auto problems = config.problems(); !problems.empty())
    return fail(ec::invalid_argument, problems.front());
  auto opened = open_store(config, *seams.time, *seams.random, seams.disk);
  if (!opened)
    return opened.error();
  store = std::move(*opened);
  growth->note(storage::store_sizes(*store->db), seams.time->steady_now());
  auto sockets = make_network(config, *seams.time, seams.transport,
                              seams.tls);
  if (!sockets)
    return sockets.error();
  net = std::move(*sockets);
  if (net.threads)
    net.threads->start();
  shared->time = seams.time;
  shared->random = seams.random;
  shared->places = {1, shard_count()};
  shared->numbers = store->numbers;
  shared->log_epoch = store->numbers.name_of(store->db->log_identity());
  // These write themselves: before the JOURNAL, who then writes alone.
  auto streams = load_upstreams(*store, config.upstreams);
  if (!streams)
    return streams.error();
  const auto filter = load_filter(*store, filter_of(config.collections));
  if (!filter)
    return filter.error();
  filter_generation = *filter;
  bool ran_before = false;
  auto channel
    = load_channel_consumer(*store, config.consumer_disable_acks, ran_before);
  if (!channel)
    return channel.error();
  shared->signers.begin(seams.random->next(), streams->size());
  shared->health.with([this](health_machine& x) {
    x.begin(config.plc_url, config.handle_resolver_url);
  });
  start_system();
  start_store_actors();
  show_upstreams(*streams); // Rows of relays that are not among them differ.
  auto known
    = load_repos(*store, shared->places, filter_generation, shared->upstreams,
                 shared->accounts, seams.end_wanted);
  if (!known)
    return known.error();
  outdated = store->stats.outdated;
  start_consumer(std::move(*channel), ran_before); // It asks for accounts.
  start_routers(std::move(*known));
  if (auto ok = start_supervisor(*streams); !ok)
    return ok;
  if (auto ok = start_servers(); !ok)
    return ok;
  if (seams.opened)
    seams.opened(owner);
  start_upstreams(*streams);
  start_room_watch();
  start_health_watch();
  start_progress_watch();
  add_gauges();
  guardian = spawn_guardian(*system, shared, std::move(children), on_failure);
  ready->store(true);
  return {};
}

void node::impl::start_system() {
  caf_config = std::make_unique<actor_config>(
    config.threads == 0 ? cores() : config.threads, seams.run);
  system = std::make_unique<caf::actor_system>(*caf_config);
  if (seams.run != nullptr)
    seams.run->begin(*system,
                     [this] { store->db->files().wait_until_idle(); });
}

void node::impl::start_store_actors() {
  journal_options options;
  const auto own_threads = seams.run == nullptr;
  options.detached = own_threads;
  shared->journal = spawn_journal(
    *system, shared,
    {store->writer.get(), store->tail.get(), &store->stats,
     [this] { return store->db->level0_files(); }},
    options, [this](const error& why) { on_journal_failure(why); });
  guard("journal", caf::actor_cast<caf::strong_actor_ptr>(shared->journal));
  shared->sweeper = spawn_sweeper(
    *system, shared, {store->db.get(), store->tail.get()}, own_threads);
  guard("sweeper", caf::actor_cast<caf::strong_actor_ptr>(shared->sweeper));
  for (size_t i = 0; i < config.readers; ++i) {
    shared->readers.push_back(
      spawn_reader(*system, *store->readers, own_threads));
    guard("reader",
          caf::actor_cast<caf::strong_actor_ptr>(shared->readers.back()));
  }
  identity_options identities;
  identities.per_second = config.plc_per_second;
  const auto plan = plan_memory(config);
  identities.cached_max = plan.identities;
  identities.waiting_max = plan.identity_waits;
  identities.failures_max = plan.lookup_failures;
  export_options exported;
  if (config.mode == tracking_mode::full_network)
    exported.directory = config.plc_url;
  exported.wanted_min = config.most.export_wanted_min;
  shared->identity = spawn_identity(
    *system, shared, identities,
    make_identity_network(net.transport, net.guarded, net.configured,
                          {config.plc_url, config.handle_resolver_url,
                           config.allow_private_addresses}),
    std::move(exported));
  guard("identity", caf::actor_cast<caf::strong_actor_ptr>(shared->identity));
}

size_t node::impl::shard_count() const {
  return config.most.routers == 0 ? 2 * cores() : config.most.routers;
}

/// For REPOs.
backfill_factory node::impl::backfills() {
  backfill_environment env;
  env.shared = shared;
  env.fetch = make_repo_fetcher(net.guarded, config.repo_bytes_max);
  env.spools = make_spool_factory(config);
  const auto plan = plan_memory(config);
  env.bounds = {plan.spool, plan.index_entries, plan.chunks};
  env.bytes = &shared->metrics.counter("weir_backfill_bytes_total",
                                       "Body bytes of repo fetches");
  env.records = &shared->metrics.counter("weir_backfill_records_total",
                                         "Records of fetched repos");
  return [this, env](const atproto::did& repo, fetch_order order,
                     repo_actor from) {
    return spawn_backfill(*system, env, repo, std::move(order),
                          std::move(from));
  };
}

void node::impl::start_routers(known_repos known) {
  auto settings = std::make_shared<repo_settings>();
  settings->filter = filter_of(config.collections);
  settings->filter_generation = filter_generation;
  settings->retry_min = config.retry_backoff_min;
  settings->retry_max = config.retry_backoff_max;
  settings->refresh_min = config.identity_refresh_min;
  settings->listing_grace = config.listing_grace;
  settings->gone_grace = config.gone_grace;
  shared->doubts->set_most(
    {plan_memory(config).doubts, limits::doubt_disk_bytes_max});
  quiet_work = known.quiet_work;
  repos = std::make_shared<repo_metrics>(shared->metrics);
  const repo_environment env{
    shared, settings, repos,
    std::make_shared<const backfill_factory>(backfills())};
  const auto make_repo = [this, env](router_actor router, atproto::did repo,
                                     uint64_t incarnation) {
    return spawn_repo(*system, std::move(router), env, std::move(repo),
                      incarnation);
  };
  for (size_t shard = 0; shard < shard_count(); ++shard) {
    router_options options;
    options.shard = shard;
    options.mode = config.mode;
    options.residents.resident_max
      = std::min(residents_for(plan_memory(config).repos, shard_count()),
                 config.most.residents);
    options.signal = filter_of(config.signal_collections);
    auto made = spawn_router(*system, shared, options,
                             std::move(known.tracked[shard]), make_repo);
    guard("router", caf::actor_cast<caf::strong_actor_ptr>(made));
    shared->add_router(std::move(made));
  }
}

/// Patterns name no collection that a relay could be asked for.
std::vector<std::string> node::impl::listed_collections() const {
  std::vector<std::string> out;
  if (config.mode == tracking_mode::signal)
    for (const auto& x : config.signal_collections)
      if (atproto::valid_nsid(x))
        out.push_back(x);
  return out;
}

result<void> node::impl::start_supervisor(
  const std::vector<storage::upstream_row>& streams) {
  const auto plan = plan_memory(config);
  supervisor_environment env;
  env.shared = shared;
  env.list = make_repo_lister(net.configured, shared,
                              filter_of(config.signal_collections));
  env.ask = make_account_asker(net.guarded);
  env.questions.gone_grace = config.gone_grace;
  env.questions.waiting_max = plan.questions;
  env.questions.kept_max = plan.answers;
  env.census_entries = plan.census;
  env.claims_bytes = plan.claims;
  if (!filter_of(config.collections).matches_all())
    env.kept_records = &store->stats.records;
  env.discover = config.mode == tracking_mode::full_network;
  env.signal_collections = listed_collections();
  auto listed = env.signal_collections;
  if (config.mode == tracking_mode::signal) {
    env.holders_listing = holders_listing(config.signal_collections);
    listed.push_back(env.holders_listing);
  }
  auto listings = load_listings(*store, streams, listed);
  if (!listings)
    return listings.error();
  env.listings = std::move(*listings);
  env.filter_generation = filter_generation;
  if (quiet_work)
    env.quiet_work_filter = filter_generation;
  supervisor_options options;
  options.parallelism = config.sync_parallelism;
  options.per_host = config.sync_per_host;
  options.retry_max = config.retry_backoff_max;
  options.preparing_max = config.most.preparing;
  options.queue_max = plan.fetch_queue;
  options.hosts_max = plan.fetch_hosts;
  options.completeness_interval = config.completeness_interval;
  listing_options listing;
  listing.interval = config.listing_interval;
  listing.requests_per_hour = config.listing_requests_per_hour;
  listing.pause = config.listing_pause;
  listing.grace = config.listing_grace;
  listing.salt = seams.random->next();
  const auto supervisor
    = spawn_supervisor(*system, std::move(env), options, listing);
  guard("supervisor", caf::actor_cast<caf::strong_actor_ptr>(supervisor));
  return {};
}

void node::impl::start_consumer(storage::consumer_state known,
                                bool ran_before) {
  delivery_options options;
  options.fire_and_forget = config.consumer_disable_acks;
  options.events_max = config.consumer_window_events;
  options.bytes_max = config.consumer_window_bytes;
  options.retry_timeout = config.consumer_retry;
  options.attempts_max = static_cast<uint32_t>(config.consumer_attempts_max);
  delivery_state state;
  state.position = known.row.position(0);
  state.acked = std::move(known.acked);
  state.durable = store->stats.durable;
  state.log_events = store->stats.events;
  state.settled = known.row.settled;
  state.dead_letters = known.row.dead_letters;
  state.ran_before = ran_before;
  consumer
    = spawn_consumer(*system,
                     {shared, store->tail.get(), outbox, channel_consumer,
                      store->db->log_identity(), config.consumer_disable_acks},
                     std::move(options), std::move(state));
  shared->subscribers.add(consumer);
  guard("consumer", caf::actor_cast<caf::strong_actor_ptr>(consumer));
}

result<void> node::impl::start_servers() {
  auto hosts = config.allowed_hosts;
  for (const auto& at : {config.bind, config.operations_bind})
    hosts.push_back(at.substr(0, at.rfind(':')));
  access = std::make_shared<access_control>(
    access_options{config.admin_password, std::move(hosts),
                   config.open_probes},
    *seams.time);
  api_environment env;
  env.shared = shared;
  env.stats = &store->stats;
  env.outbox = outbox;
  env.consumer = consumer;
  env.consumer_name = channel_consumer;
  env.waiting = repos->waiting;
  env.lookups_per_second = config.plc_per_second;
  env.mode = config.mode;
  env.signal_collections = config.signal_collections;
  env.collections = config.collections;
  env.filter_generation = filter_generation;
  env.ready = ready;
  env.request_bytes_max = plan_memory(config).requests;
  env.growth = growth;
  faces = make_api(*system, std::move(env), access);
  guard("api", faces.actor);
  const auto open = [this](const char* option, const std::string& at,
                           const std::shared_ptr<net::http_service>& service,
                           std::shared_ptr<net::http_server>& server,
                           std::string& url) -> result<void> {
    auto where = net::endpoint::parse(at);
    if (!where)
      return where.error();
    net::http_server_options options;
    options.at = *where;
    auto made = net::make_http_server(net.transport, service, options);
    if (!made)
      return fail(made.error().code,
                  std::string{option} + ": " + made.error().context
                    + "; choose another address or port, or end what listens "
                      "there");
    server = std::move(*made);
    url = "http://" + net::to_string(server->local());
    return {};
  };
  if (auto ok = open("bind", config.bind, faces.data, data, data_url); !ok)
    return ok;
  return open("operations_bind", config.operations_bind, faces.operations,
              operations, operations_url);
}

node::node(std::unique_ptr<impl> x) noexcept : impl_(std::move(x)) {
  // nop
}

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
  return impl_->data_url;
}

const std::string& node::operations_url() const noexcept {
  return impl_->operations_url;
}

void node::stop() {
  impl_->stop();
}

node_holdings node::holdings() const {
  return {impl_->store->stats.repo_count(),
          storage::total_bytes(impl_->growth->sizes()),
          impl_->outdated};
}

void node::set_admin_password(const std::string& x) {
  impl_->access->set_password(x);
}

metrics_registry& node::metrics() noexcept {
  return impl_->shared->metrics;
}

} // namespace weir::actors
