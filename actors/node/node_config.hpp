#pragma once

#include "actors/support/tracking_mode.hpp"
#include "actors/upstream/upstream_machine.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace weir::actors {

/// One configured stream.
struct upstream_config {
  std::string url;    ///< http(s) origin of the PDS or relay.
  bool relay = false; ///< Else a PDS.
};

enum class durability_mode : uint8_t { strict, relaxed };

/// Everything a node can be told. Defaults are what `conf/weir.toml` ships;
/// `apps/weir` fills it from file and flags.
struct node_config {
  std::string data_dir = "weir-data";
  std::string bind = "127.0.0.1:2480";            ///< Data port; 0 = any free.
  std::string operations_bind = "127.0.0.1:2481"; ///< Operations port.
  /// Names a request's Host header may have, besides loopback and the bound
  /// address.
  std::vector<std::string> allowed_hosts;
  std::string admin_password; ///< Empty: none; then loopback only.

  std::vector<upstream_config> upstreams;
  future_cursor_policy on_future_cursor = future_cursor_policy::reset;
  bool assume_contiguous_seq = false;
  std::string plc_url = "https://plc.directory";
  double plc_per_second = 20;
  std::string handle_resolver_url;
  bool allow_private_addresses = false;
  std::string ca_file; ///< PEM; empty = the machine's.

  tracking_mode mode = tracking_mode::manual;          ///< SYNC-17 to 19
  std::vector<std::string> signal_collections;         ///< SYNC-18
  std::vector<std::string> collections;                ///< SYNC-20; empty = all
  size_t sync_parallelism = 3;                         ///< SYNC-11
  size_t sync_per_host = 4;
  std::chrono::seconds retry_backoff_min{60};          ///< SYNC-15
  std::chrono::seconds retry_backoff_max{3600};        ///< SYNC-15
  std::chrono::seconds retry_scan{30};                 ///< SYNC-14
  std::chrono::seconds identity_refresh_min{60};
  std::chrono::seconds listing_interval{86'400};
  std::chrono::seconds listing_grace{10};
  uint64_t repo_bytes_max = 1'073'741'824;

  durability_mode durability = durability_mode::strict;
  uint64_t memory_limit = 1'073'741'824;

  std::chrono::seconds consumer_retry{60}; ///< TAP_RETRY_TIMEOUT
  size_t consumer_window_events = 1'000;
  size_t consumer_window_bytes = 8'388'608;
  size_t consumer_attempts_max = 20;
  bool consumer_disable_acks = false; ///< TAP_DISABLE_ACKS

  size_t threads = 0; ///< Scheduler threads; 0 = one a core.
  size_t router_shards = 0; ///< 0 = two a core.
  size_t readers = 2;
  size_t io_threads = 1;

  /// Checks ranges and combinations; every problem, one a line.
  std::vector<std::string> problems() const;
};

} // namespace weir::actors
