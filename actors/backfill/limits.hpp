#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

/// Limits of `actors/backfill`: the value itself is allowed, value + 1 is not.
namespace weir::limits {

using namespace std::chrono_literals;

/// Operations and bytes of one chunk, and chunks of one job under way.
constexpr size_t chunk_ops_max = 256;
constexpr size_t chunk_bytes_max = 1'048'576;
constexpr size_t job_chunks_max = 4;

/// A CAR larger than this lies in a file, not in memory.
constexpr size_t spool_memory_bytes_max = 8'388'608;

/// Body bytes of one fetch that may be read beyond those that were processed.
constexpr size_t fetch_window_bytes = 1'048'576;

/// The bytes that are kept of an answer that is not a CAR.
constexpr size_t fetch_error_bytes_max = 4'096;

/// The bytes that are kept of the content type of an answer: enough to name it
/// in an error.
constexpr size_t fetch_type_bytes_max = 64;

/// Repositories up to this size are compared from memory, in one pass.
constexpr uint64_t import_one_pass_bytes_max = 4'194'304;

/// How long a BACKFILL works before it lets other actors run, and the records
/// after which it looks at the clock.
constexpr std::chrono::microseconds import_quantum = 2ms;
constexpr size_t import_step_records_max = 64;

/// The interval at which a BACKFILL reports the progress of its download.
constexpr std::chrono::microseconds fetch_progress_interval = 1s;

/// One getRepo of any size; `http_bytes_per_second_min` ends slow ones sooner.
constexpr auto repo_fetch_timeout = 30min;

} // namespace weir::limits
