#include "actors/node/actor_setup.hpp"

#include "actors/backfill/fetch_bridge.hpp"
#include "actors/backup/backup.hpp"
#include "actors/identity/identity_bridge.hpp"
#include "actors/node/memory_plan.hpp"
#include "actors/supervisor/host_bridges.hpp"
#include "actors/upstream/stream_bridge.hpp"
#include "base/version.hpp"
#include "storage/disk/file_spool.hpp"
#include "storage/disk/safe_env_disk.hpp"

namespace weir::actors {

namespace {

wire::collection_filter filter_of(const std::vector<std::string>& patterns) {
  return wire::collection_filter::parse(patterns).value();
}

/// Name of the listing of PDSs for these patterns. When the patterns change, it
/// is a new name, and all repos are asked about again.
std::string holders_listing(const std::vector<std::string>& patterns) {
  const auto filter = filter_of(patterns);
  std::string all;
  for (const auto& x : filter.patterns())
    all += x + ' ';
  return "signal-" + std::to_string(atproto::stable_hash(all));
}

/// The collections without patterns: a relay can only be asked for a whole
/// name.
std::vector<std::string> listed_collections(const node_config& config) {
  std::vector<std::string> out;
  if (config.mode == tracking_mode::signal)
    for (const auto& x : config.signal_collections)
      if (atproto::valid_nsid(x))
        out.push_back(x);
  return out;
}

backfill_environment environment_of_backfills(const node_config& config,
                                              const context_ptr& shared,
                                              const network& net) {
  const auto plan = plan_memory(config);
  auto& metrics = shared->metrics;
  backfill_environment out;
  out.shared = shared;
  out.fetch = make_repo_fetcher(net.guarded, config.repo_bytes_max);
  out.spools = make_spool_factory(config);
  out.bounds = {plan.spool, plan.index_entries, plan.chunks};
  out.bytes = &metrics.counter("weir_backfill_bytes_total",
                               "Bytes received in the bodies of repo fetches");
  out.records = &metrics.counter("weir_backfill_records_total",
                                 "Records in the repos that were fetched");
  return out;
}

supervisor_options options_of(const node_config& config) {
  const auto plan = plan_memory(config);
  supervisor_options out;
  out.parallelism = config.sync_parallelism;
  out.per_host = config.sync_per_host;
  out.retry_max = config.retry_backoff_max;
  out.preparing_max = config.most.preparing;
  out.queue_max = plan.fetch_queue;
  out.hosts_max = plan.fetch_hosts;
  out.completeness_interval = config.completeness_interval;
  return out;
}

listing_options listings_of(const node_config& config, random_source& random) {
  listing_options out;
  out.interval = config.listing_interval;
  out.requests_per_hour = config.listing_requests_per_hour;
  out.pause = config.listing_pause;
  out.grace = config.listing_grace;
  out.salt = random.next();
  return out;
}

} // namespace

spool_factory make_spool_factory(const node_config& config) {
  const auto memory = plan_memory(config).spool;
  return [directory = config.data_dir, memory, most = config.repo_bytes_max] {
    auto store = std::make_unique<storage::file_spool>(directory, memory,
                                                       most);
    auto index = std::make_unique<storage::file_spool>(directory, 0, most);
    import_spools out;
    // The import owns both spools and outlives every call.
    out.on_disk = [spool = store.get()] { return spool->on_disk(); };
    out.store = std::move(store);
    out.index = std::move(index);
    return out;
  };
}

identity_actor actor_setup::identity() const {
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
  return spawn_identity(
    system, shared, identities,
    make_identity_network(net.transport, net.guarded, net.configured,
                          {config.plc_url, config.handle_resolver_url,
                           config.allow_private_addresses}),
    std::move(exported));
}

backfill_factory actor_setup::backfills() const {
  return [&system = system,
          env = environment_of_backfills(config, shared, net)](
           const atproto::did& repo, fetch_order order, repo_actor from) {
    return spawn_backfill(system, env, repo, std::move(order), std::move(from));
  };
}

supervisor_environment
actor_setup::environment_of_supervisor(uint32_t filter_generation,
                                       bool has_quiet_work) const {
  const auto plan = plan_memory(config);
  supervisor_environment out;
  out.shared = shared;
  out.list = make_repo_lister(net.configured, shared,
                              filter_of(config.signal_collections));
  out.ask = make_account_asker(net.guarded);
  out.questions.gone_grace = config.gone_grace;
  out.questions.waiting_max = plan.questions;
  out.questions.kept_max = plan.answers;
  out.census_entries = plan.census;
  out.claims_bytes = plan.claims;
  out.keeps_some = !filter_of(config.collections).matches_all();
  out.discover = config.mode == tracking_mode::full_network;
  out.signal_collections = listed_collections(config);
  if (config.mode == tracking_mode::signal)
    out.holders_listing = holders_listing(config.signal_collections);
  out.filter_generation = filter_generation;
  if (has_quiet_work)
    out.quiet_work_filter = filter_generation;
  return out;
}

supervisor_actor actor_setup::supervisor(supervisor_environment env) const {
  return spawn_supervisor(system, std::move(env), options_of(config),
                          listings_of(config, *shared->random));
}

backup_actor actor_setup::backup(std::vector<storage::database*> stores,
                                 storage::disk_env* disk,
                                 bool own_thread) const {
  if (disk == nullptr)
    disk = &storage::posix_disk();
  return spawn_backup(system, shared,
                      {std::move(stores), disk, config.data_dir}, own_thread);
}

upstream_actor actor_setup::stream(const storage::upstream_row& row) const {
  net::ws_client_options socket;
  socket.guard = net::address_guard{true}; // The operator named it.
  socket.tls = net.tls;
  socket.user_agent = std::string{"weir/"} + version();
  socket.time = shared->time;
  socket.random = shared->random;
  upstream_options options;
  options.on_future_cursor = config.on_future_cursor;
  options.assume_contiguous_seq = config.assume_contiguous_seq;
  const auto plan = plan_memory(config);
  options.bytes_max = plan.upstream_window;
  options.frames_max = plan.upstream_frames;
  if (!row.relay)
    options.events_per_second = config.pds_events_per_second;
  return spawn_upstream(system, shared, row, options,
                        make_stream_dialer(net.transport, socket));
}

} // namespace weir::actors
