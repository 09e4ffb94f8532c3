#include "actors/node/node_impl.hpp"
#include "actors/node/sparing_policy.hpp"
#include "actors/support/limits.hpp"
#include "actors/support/node_sums.hpp"
#include "messages/caf_types.hpp"
#include "storage/disk/safe_env.hpp"
#include "storage/disk/store_sizes.hpp"

#include <caf/atom.hpp>

#include <thread>

namespace weir::actors {

namespace {

size_t cores() {
  return std::max(1u, std::thread::hardware_concurrency());
}

} // namespace

actor_config::actor_config(size_t threads, executor* run) {
#define WEIR_REGISTER_MESSAGE(name) add_message_type<name>("weir::" #name);
  WEIR_TRAVELLING_MESSAGES(WEIR_REGISTER_MESSAGE)
#undef WEIR_REGISTER_MESSAGE
  set("scheduler.max-threads", threads);
  set("scheduler.max-throughput", size_t{300});
  set("logger.verbosity", caf::atom("quiet"));
  if (run != nullptr)
    run->configure(*this);
  else
    load<caf::scheduler::coordinator<sparing_policy>>();
}

result<void> node::impl::start(const node& owner) {
  if (const auto problems = config.problems(); !problems.empty())
    return fail(ec::invalid_argument, problems.front());
  if (auto ok = open_partitions(); !ok)
    return ok;
  auto sockets = make_network(config, *seams.time, seams.transport,
                              seams.tls);
  if (!sockets)
    return sockets.error();
  net = std::move(*sockets);
  if (net.threads)
    net.threads->start();
  // These write by themselves: before the JOURNALs exist, which then write
  // alone.
  auto streams = load_upstreams(root().store(), config.upstreams);
  if (!streams)
    return streams.error();
  const auto filter
    = load_filter(root().store(),
                  wire::collection_filter::parse(config.collections).value());
  if (!filter)
    return filter.error();
  filter_generation = *filter;
  for (const auto& x : partitions)
    if (auto ok = x->load_consumer(); !ok)
      return ok;
  shared->signers.begin(seams.random->next(), streams->size());
  shared->health.with([this](health_machine& x) {
    x.begin(config.plc_url, config.handle_resolver_url);
  });
  start_system();
  for (const auto& x : partitions)
    x->start_store(*system);
  start_identity();
  // Rows with reports of relays that are no longer followed need work.
  show_upstreams(*streams);
  if (auto ok = start_partitions(); !ok)
    return ok;
  if (auto ok = start_supervisor(*streams); !ok)
    return ok;
  if (auto ok = start_servers(); !ok)
    return ok;
  if (seams.opened)
    seams.opened(owner);
  start_upstreams(*streams);
  start_watches();
  add_gauges();
  start_guardian();
  ready->store(true);
  return {};
}

result<void> node::impl::open_partitions() {
  shared->time = seams.time;
  shared->random = seams.random;
  const auto routers
    = config.most.routers == 0 ? 2 * cores() : config.most.routers;
  const auto count = static_cast<uint16_t>(config.partitions);
  shared->divide({count, std::max<size_t>(routers / count, 1)});
  auto stores = open_stores(config, *seams.random, seams.disk);
  if (!stores)
    return stores.error();
  std::vector<const store_readers*> readers;
  for (const auto& home : shared->partitions()) {
    auto opened = partition::open({config, seams, shared, home, on_failure},
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

void node::impl::start_system() {
  caf_config = std::make_unique<actor_config>(
    config.threads == 0 ? cores() : config.threads, seams.run);
  system = std::make_unique<caf::actor_system>(*caf_config);
  if (seams.run != nullptr)
    seams.run->begin(*system, [this] {
      for (const auto& x : partitions)
        x->store().db->files().wait_until_idle();
    });
}

void node::impl::start_identity() {
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
  guard("identity", shared->identity);
}

/// Makes one step at a time, for all partitions.
result<void> node::impl::start_partitions() {
  for (const auto& x : partitions)
    if (auto ok = x->load_repos(filter_generation); !ok)
      return ok;
  outdated = shared->sum([](const partition_context& x) {
    return x.stats.outdated.load();
  });
  shared->doubts->set_most(
    {plan_memory(config).doubts, limits::doubt_disk_bytes_max});
  repos = std::make_shared<repo_metrics>(shared->metrics);
  const auto make_backfill
    = std::make_shared<const backfill_factory>(backfills());
  for (const auto& x : partitions)
    x->start_readings(*system, repos, make_backfill);
  return {};
}

void node::impl::start_guardian() {
  for (const auto& x : partitions)
    for (auto& child : x->take_children())
      children.push_back(std::move(child));
  guardian = spawn_guardian(*system, shared, std::move(children), on_failure);
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
  env.consumer_name = channel_consumer;
  env.waiting = repos->waiting;
  env.lookups_per_second = config.plc_per_second;
  env.mode = config.mode;
  env.signal_collections = config.signal_collections;
  env.collections = config.collections;
  env.filter_generation = filter_generation;
  env.ready = ready;
  env.request_bytes_max = plan_memory(config).requests;
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

// -- the streams that a node follows ------------------------------------------

upstream_actor node::impl::spawn_stream(const storage::upstream_row& row) {
  net::ws_client_options socket;
  socket.guard = net::address_guard{true}; // The operator named it.
  socket.tls = net.tls;
  socket.user_agent = std::string{"weir/"} + version();
  socket.time = seams.time;
  socket.random = seams.random;
  upstream_options options;
  options.on_future_cursor = config.on_future_cursor;
  options.assume_contiguous_seq = config.assume_contiguous_seq;
  const auto plan = plan_memory(config);
  options.bytes_max = plan.upstream_window;
  options.frames_max = plan.upstream_frames;
  if (!row.relay)
    options.events_per_second = config.pds_events_per_second;
  return spawn_upstream(*system, shared, row, options,
                        make_stream_dialer(net.transport, socket));
}

/// REPOs must see the upstreams from the first moment, for the host rule.
void node::impl::show_upstreams(
  const std::vector<storage::upstream_row>& rows) {
  for (const auto& row : rows) {
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

void node::impl::start_upstreams(
  const std::vector<storage::upstream_row>& rows) {
  for (const auto& row : rows) {
    upstreams.push_back(spawn_stream(row));
    guard("upstream", upstreams.back());
    children.back().restart = [this, id = row.id]() -> caf::strong_actor_ptr {
      // Restart from its row: frames that were in flight come again.
      const auto known = storage::load_upstreams(*root().store().db);
      if (known)
        for (const auto& x : *known)
          if (x.id == id)
            return caf::actor_cast<caf::strong_actor_ptr>(spawn_stream(x));
      on_failure(fail(ec::storage_failure, "an upstream's row is unreadable"));
      return nullptr;
    };
  }
}

// -- what others see of it ----------------------------------------------------

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
  return impl_->data_url;
}

const std::string& node::operations_url() const noexcept {
  return impl_->operations_url;
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
  impl_->access->set_password(x);
}

metrics_registry& node::metrics() noexcept {
  return impl_->shared->metrics;
}

} // namespace weir::actors
