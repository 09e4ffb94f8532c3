#pragma once

#include "base/option_range.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>

/// Bounds that `actors/supervisor` keeps. A name says the thing and the unit.
/// The value itself is accepted; value + 1 is refused.
namespace weir::limits {

using namespace std::chrono_literals;

/// Repos that wait in memory for a fetch. Repos beyond that are found again by
/// a scan of the store.
constexpr size_t fetch_queue_max = 1'000'000;

/// Repos whose host is being looked up, and hosts that the queue remembers.
constexpr size_t fetch_preparing_max = 64;
constexpr size_t fetch_hosts_max = 100'000;

/// A host rests after this many failures in a row. Each further rest is longer,
/// between these two times. The upper one also bounds Retry-After.
constexpr size_t host_failures_max = 5;
constexpr auto host_rest_min = 1s;
constexpr auto host_rest_max = 15min;

/// The rest of a host that answers 429 without Retry-After.
constexpr auto host_rate_limit_rest = 15s;

/// The most pages of one listing, and the most pages in a row that name no new
/// DID.
constexpr size_t listing_pages_max = 1'000'000;
constexpr size_t listing_idle_pages_max = 3;

/// The wait after a failed page. It doubles with each further failure.
constexpr auto listing_retry_min = 1s;
constexpr auto listing_retry_max = 60s;

/// The lines that we request per page, and the most lines and bytes that we
/// accept in one listing page (protocol-coverage.md 9).
constexpr size_t listing_page_asked = 1'000;
constexpr size_t listing_page_max = 10'000;
constexpr size_t listing_bytes_max = 2'097'152;
constexpr option_range<size_t> sync_parallelism_range{1, 256, 3};
constexpr option_range<size_t> sync_per_host_range{1, 64, 4};

/// Health names a listing as a cause when the listing is owed and this many of
/// its pages in a row failed.
constexpr size_t health_listing_failures_min = 3;

/// At most `fetch_lines_max` of the fetches that brought nothing are named in
/// the log per `fetch_lines_interval`.
constexpr uint64_t fetch_lines_max = 100;
constexpr auto fetch_lines_interval = 60s;

} // namespace weir::limits
