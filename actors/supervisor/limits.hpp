#pragma once

#include "base/option_range.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>

/// Bounds that `actors/supervisor` keeps. A name says the thing and the unit.
/// The value itself is accepted; value + 1 is refused.
namespace weir::limits {

using namespace std::chrono_literals;

/// Repos that wait for a fetch in memory; more are found again by a scan.
constexpr size_t fetch_queue_max = 1'000'000;

/// Repos whose host is being looked up.
constexpr size_t fetch_preparing_max = 64;
constexpr size_t fetch_hosts_max = 100'000;

/// Failures in a row before a host rests, ever longer; bounds Retry-After too.
constexpr size_t host_failures_max = 5;
constexpr auto host_rest_min = 1s;
constexpr auto host_rest_max = 15min;

/// After a 429 without Retry-After.
constexpr auto host_rate_limit_rest = 15s;

/// Pages of one listing, and in a row without a new DID.
constexpr size_t listing_pages_max = 1'000'000;
constexpr size_t listing_idle_pages_max = 3;

/// After a failed page; doubles with each further one.
constexpr auto listing_retry_min = 1s;
constexpr auto listing_retry_max = 60s;

/// Lines asked for, and lines and bytes of one listing page
/// (protocol-coverage.md 9).
constexpr size_t listing_page_asked = 1'000;
constexpr size_t listing_page_max = 10'000;
constexpr size_t listing_bytes_max = 2'097'152;
constexpr option_range<size_t> sync_parallelism_range{1, 256, 3};
constexpr option_range<size_t> sync_per_host_range{1, 64, 4};

/// Pages of a listing that is owed which fail in a row: a cause from here on.
constexpr size_t health_listing_failures_min = 3;

/// Of the fetches that bring nothing, so many are named in so long a time.
constexpr uint64_t fetch_lines_max = 100;
constexpr auto fetch_lines_interval = 60s;

} // namespace weir::limits
