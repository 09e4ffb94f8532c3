#pragma once

#include "actors/supervisor/limits.hpp"
#include "actors/supervisor/limits_scans.hpp"
#include "actors/support/limits.hpp"

namespace weir::actors {

struct supervisor_options {
  /// SYNC-11, `sync_parallelism`.
  size_t parallelism = limits::sync_parallelism_range.standard;
  /// The most fetches at once from one host.
  size_t per_host = limits::sync_per_host_range.standard;
  size_t preparing_max = limits::fetch_preparing_max;
  size_t queue_max = limits::fetch_queue_max;
  /// Hosts that are remembered although none of their repos waits.
  size_t hosts_max = limits::fetch_hosts_max;
  /// The longest back-off of a repo.
  std::chrono::seconds retry_max = limits::retry_backoff_max_standard;
  /// The time between two looks at all rows while something is incomplete.
  std::chrono::seconds completeness_interval
    = limits::completeness_interval_range.standard;
  size_t breaker_failures = limits::host_failures_max;
};

/// The part of `all` that one host may have while others wait.
constexpr size_t fair_share(size_t all) noexcept {
  return (all + limits::fair_part - 1) / limits::fair_part;
}

} // namespace weir::actors
