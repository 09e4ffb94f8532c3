#pragma once

#include "base/option_range.hpp"

#include <chrono>
#include <cstddef>

/// Limits that `actors/node` keeps. Each name contains the thing and the unit.
/// The value itself is allowed; value + 1 is refused.
namespace weir::limits {

using namespace std::chrono_literals;

/// CAR bytes in memory, of all fetches together.
constexpr size_t backfill_bytes_max = 67'108'864;
constexpr option_range<size_t> pds_events_per_second_range{1, 1'000'000, 500};

/// 0: one for each core.
constexpr option_range<size_t> threads_range{0, 256, 0};
constexpr option_range<size_t> readers_range{1, 64, 2};

/// Stores of a data directory: as many as a cluster would spread over its
/// nodes.
constexpr option_range<size_t> partitions_range{1, 32, 1};

/// Connections to the directory, and to each other configured server. A
/// connection has one look-up at a time: with answers that take a tenth of a
/// second, eight connections would allow only eighty look-ups a second,
/// whatever `plc_per_second` is.
constexpr size_t directory_connections_max = 32;

/// Repos in one batch of those that are asked to fetch again when the clock is
/// right again.
constexpr size_t clock_retry_page = 1'000;

/// Interval at which the health of the node is judged.
constexpr auto health_check_interval = 500ms;

/// Interval at which the progress of fetches is checked.
constexpr auto story_look_interval = 1s;

/// Maximum age of the shown size of the store.
constexpr auto store_size_interval = 30s;

/// Bytes of the admin password (hostile-inputs.md 2.2.3).
constexpr option_range<size_t> admin_password_bytes_range{16, 1'024};

} // namespace weir::limits
