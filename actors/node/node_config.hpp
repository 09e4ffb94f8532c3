#pragma once

#include "actors/identity/limits.hpp"
#include "actors/node/limits.hpp"
#include "actors/supervisor/limits.hpp"
#include "actors/supervisor/limits_scans.hpp"
#include "actors/support/config_choices.hpp"
#include "actors/support/limits.hpp"
#include "actors/upstream/limits.hpp"
#include "storage/tables/limits.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace weir::actors {

struct upstream_config {
  std::string url;    ///< http(s) origin of the PDS or relay.
  bool relay = false; ///< False: a PDS.
};

/// Upper bounds for things that `memory_limit` pays for. No key of the
/// configuration sets them. A program that builds a node may want fewer, as the
/// simulator does, whose worlds are small.
struct held_bounds {
  /// Repos that wait for a fetch.
  size_t fetch_queue = limits::fetch_queue_max;
  /// Repos whose hosts are looked up at once.
  size_t preparing = limits::fetch_preparing_max;
  size_t residents = limits::resident_repos_max; ///< REPOs of one ROUTER.
  size_t routers = 0; ///< 0: two for each core.
  size_t names = limits::names_bytes_max; ///< Bytes of collection names.
  size_t frames = limits::upstream_frames_max; ///< Frames in a stream's window.
  size_t bytes = limits::upstream_bytes_max; ///< Bytes in a stream's window.
  /// Remembered failures of look-ups.
  size_t failures = limits::lookup_failures_max;
  /// The export of the directory is read only when at least this number of
  /// documents is wanted.
  size_t export_wanted_min = limits::export_wanted_min;
};

/// The whole configuration of a node. The defaults are those of
/// `conf/weir.toml`; `apps/weir` fills it from the file and flags.
struct node_config {
  std::string data_dir = "weir-data";
  /// Number of stores, which can never change (ADR 26).
  size_t partitions = limits::partitions_range.standard;
  std::string bind = "127.0.0.1:2480";            ///< Data port; 0 = any free.
  std::string operations_bind = "127.0.0.1:2481"; ///< Operations port.
  /// Names that a request's Host header may have, besides loopback and the
  /// bound address.
  std::vector<std::string> allowed_hosts;
  /// Empty: no password is needed, which is allowed on loopback only.
  std::string admin_password;
  /// `/livez` and `/readyz` need no password from any address; from loopback
  /// they never need one.
  bool open_probes = false;

  std::vector<upstream_config> upstreams;
  future_cursor_policy on_future_cursor = future_cursor_policy::reset;
  bool assume_contiguous_seq = false;
  /// The limit of each PDS; a relay's events are not limited.
  size_t pds_events_per_second = limits::pds_events_per_second_range.standard;
  std::string plc_url = "https://plc.directory";
  double plc_per_second = limits::plc_per_second_range.standard;
  std::string handle_resolver_url;
  bool allow_private_addresses = false;
  std::string ca_file; ///< PEM; empty = the machine's.

  tracking_mode mode = tracking_mode::manual;  ///< Which repos (SYNC-17 to 19).
  std::vector<std::string> signal_collections; ///< For signal mode (SYNC-18).
  std::vector<std::string> collections;        ///< Kept (SYNC-20); empty: all.
  /// SYNC-11
  size_t sync_parallelism = limits::sync_parallelism_range.standard;
  size_t sync_per_host = limits::sync_per_host_range.standard;
  /// SYNC-15
  std::chrono::seconds retry_backoff_min = limits::retry_backoff_range.standard;
  std::chrono::seconds retry_backoff_max = limits::retry_backoff_max_standard;
  std::chrono::seconds identity_refresh_min
    = limits::identity_refresh_range.standard;
  std::chrono::seconds listing_interval
    = limits::listing_interval_range.standard;
  std::chrono::seconds listing_pause = limits::listing_pause_range.standard;
  std::chrono::seconds completeness_interval
    = limits::completeness_interval_range.standard;
  /// The limit of each upstream.
  size_t listing_requests_per_hour = limits::listing_requests_range.standard;
  std::chrono::seconds listing_grace = limits::listing_grace_range.standard;
  /// RepoNotFound counts when it was answered twice, at least this far apart.
  std::chrono::seconds gone_grace = limits::gone_grace_range.standard;
  uint64_t repo_bytes_max = limits::repo_bytes_range.standard;

  uint64_t memory_limit = limits::memory_limit_range.standard;
  held_bounds most;
  /// Bytes that stay free; 0 = 2 GiB or 5 % of the disk, the larger.
  uint64_t disk_reserve = limits::disk_reserve_range.standard;

  /// How long the log keeps what is not current any more; 0 = for ever.
  std::chrono::seconds log_retention = limits::log_retention_range.standard;

  /// TAP_RETRY_TIMEOUT
  std::chrono::seconds consumer_retry = limits::consumer_retry_range.standard;
  size_t consumer_window_events = limits::consumer_window_events_range.standard;
  size_t consumer_window_bytes = limits::consumer_window_bytes_range.standard;
  size_t consumer_attempts_max = limits::consumer_attempts_range.standard;
  bool consumer_disable_acks = false; ///< As TAP_DISABLE_ACKS says.

  /// Scheduler threads; 0 = one for each core. Each partition has one more.
  size_t threads = limits::threads_range.standard;
  /// Shared by the partitions; each has at least one.
  size_t readers = limits::readers_range.standard;

  /// What each partition gets of a number or size for all of them, at least 1.
  size_t of_partition(size_t all) const noexcept {
    return std::max<size_t>(all / std::max<size_t>(partitions, 1), 1);
  }

  /// Checks ranges and combinations. Returns every problem as one line.
  std::vector<std::string> problems() const;
};

} // namespace weir::actors
