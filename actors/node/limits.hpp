#pragma once

#include "actors/consumer/limits.hpp"
#include "atproto/limits.hpp"
#include "base/option_range.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>

/// Limits of `actors/node`: the value itself is allowed, value + 1 is not.
namespace weir::limits {

using namespace std::chrono_literals;

/// CAR bytes in memory, of all fetches together.
constexpr size_t backfill_bytes_max = 67'108'864;
constexpr option_range<size_t> pds_events_per_second_range{1, 1'000'000, 500};

constexpr option_range<uint64_t> repo_bytes_range{
  1'048'576, repo_car_bytes_max, repo_car_bytes_max};
constexpr option_range<uint64_t> memory_limit_range{
  134'217'728, 1'099'511'627'776, 1'073'741'824};
constexpr option_range<uint64_t> disk_reserve_range{0, 1'099'511'627'776, 0};
constexpr option_seconds log_retention_range{0s, 87'600h, 720h};
constexpr option_seconds consumer_retry_range{1s, 24h, consumer_retry_timeout};
constexpr option_range<size_t> consumer_window_events_range{
  1, 100'000, consumer_events_max};
constexpr option_range<size_t> consumer_window_bytes_range{
  65'536, 1'073'741'824, consumer_bytes_max};
constexpr option_range<size_t> consumer_attempts_range{
  0, 1'000, consumer_attempts_max}; ///< 0: no limit.

/// 0: one for each core.
constexpr option_range<size_t> threads_range{0, 256, 0};
constexpr option_range<size_t> readers_range{1, 64, 2};

/// Stores of a data directory: as many as a cluster would spread over its
/// nodes.
constexpr option_range<size_t> partitions_range{1, 32, 1};

/// Memory for LevelDB out of the limit, and the range for the size and number
/// of its tables.
constexpr size_t write_buffer_bytes_max = 67'108'864;
constexpr size_t block_cache_bytes_max = 67'108'864;
constexpr option_range<size_t> table_bytes_range{2'097'152, 33'554'432};
constexpr option_range<size_t> open_tables_range{64, 4'000};

/// Parts of `memory_limit` (128: one 128th): for failed look-ups, for questions
/// about accounts, for the answers to them, and for the DIDs of the listings
/// under way. The memory for claims comes from the undivided rest.
constexpr size_t lookup_failures_memory_part = 256;
constexpr size_t account_questions_memory_part = 128;
constexpr size_t account_answers_memory_part = 512;
constexpr size_t census_memory_part = 128;
constexpr uint64_t claims_memory_part = 128;

/// The part of `memory_limit` that a partition needs at least: a sixteenth of
/// it holds the indexes of the smallest number of tables that LevelDB may have
/// open.
constexpr size_t partition_memory_min = 33'554'432;

/// The least window of a stream: some dozens of commits.
constexpr size_t upstream_window_min = 262'144;

/// Frames that wait for a document, of all repos together: the part of
/// `memory_limit` and the bytes on disk that they may take. The memory is less
/// than a 32nd of the limit: otherwise these frames alone could keep intake
/// closed.
constexpr uint64_t document_wait_memory_part = 64;
constexpr uint64_t document_wait_disk_bytes_max = 268'435'456;

/// Frames between socket and disk: all upstreams share the first number, but
/// each one may always have the second one.
constexpr size_t all_upstreams_frames_max = 4'096;
constexpr size_t upstream_frames_min = 64;

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

/// Pauses between two attempts to use a disk that refuses writes although bytes
/// are free: each is twice the one before, up to the longest. Attempts on a
/// disk that stays so must be rare, because each of them writes to it. A node
/// should be back within a minute after somebody has made room.
constexpr std::chrono::seconds disk_trial_pause_min = 1s;
constexpr std::chrono::seconds disk_trial_pause_max = 60s;

/// Maximum age of the shown size of the store.
constexpr auto store_size_interval = 30s;

/// Bytes of the admin password (hostile-inputs.md 2.2.3).
constexpr option_range<size_t> admin_password_bytes_range{16, 1'024};

} // namespace weir::limits
