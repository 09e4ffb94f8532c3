#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

/// Bounds that `actors/backfill` keeps. A name says the thing and the unit.
/// The value itself is accepted; value + 1 is refused.
namespace weir::limits {

using namespace std::chrono_literals;

/// Operations in one backfill chunk, and chunks of one job on their way.
constexpr size_t chunk_ops_max = 256;
constexpr size_t chunk_bytes_max = 1'048'576;
constexpr size_t job_chunks_max = 4;

/// A CAR above this lies in a file, not in memory.
constexpr size_t spool_memory_bytes_max = 8'388'608;

/// Body bytes of one fetch that were granted and not yet taken in.
constexpr size_t fetch_window_bytes = 1'048'576;

/// What is kept of an answer that is no CAR.
constexpr size_t fetch_error_bytes_max = 4'096;

/// Repositories up to this size are compared from memory, in one pass.
constexpr uint64_t import_one_pass_bytes_max = 4'194'304;

/// A BACKFILL says as often how far its download is.
constexpr std::chrono::microseconds fetch_progress_interval = 1s;

/// One getRepo of any size; `http_bytes_per_second_min` ends slow ones sooner.
constexpr auto repo_fetch_timeout = 30min;

} // namespace weir::limits
