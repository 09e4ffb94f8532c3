#pragma once

#include "base/option_range.hpp"

#include <chrono>
#include <cstddef>

/// Bounds that `actors/node` keeps. A name says the thing and the unit.
/// The value itself is accepted; value + 1 is refused.
namespace weir::limits {

using namespace std::chrono_literals;

/// CAR bytes of all jobs held in memory.
constexpr size_t backfill_bytes_max = 67'108'864;
constexpr option_range<size_t> pds_events_per_second_range{1, 1'000'000, 500};

/// 0: one a core.
constexpr option_range<size_t> threads_range{0, 256, 0};
constexpr option_range<size_t> readers_range{1, 64, 2};

/// Stores of a data directory: as many as a cluster would spread over its nodes.
constexpr option_range<size_t> partitions_range{1, 32, 1};

/// Connections to the directory, and to each other server that is configured. Each
/// has one look-up at a time: where an answer takes a tenth of a second, eight
/// would bring eighty a second, whatever `plc_per_second` says.
constexpr size_t directory_connections_max = 32;

/// Repos that are asked to fetch again at once when the clock is right again.
constexpr size_t clock_retry_page = 1'000;

/// How often all of it is judged.
constexpr auto health_check_interval = 500ms;

/// How often it is looked.
constexpr auto story_look_interval = 1s;

/// How old the size of the store may be that is shown.
constexpr auto store_size_interval = 30s;

/// Bytes of the admin password (hostile-inputs.md 2.2.3).
constexpr option_range<size_t> admin_password_bytes_range{16, 1'024};

} // namespace weir::limits
