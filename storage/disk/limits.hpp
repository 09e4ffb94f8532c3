#pragma once

#include <cstddef>
#include <cstdint>

/// Limits of `storage/disk`: the value itself is allowed, value + 1 is not.
namespace weir::limits {

/// Bytes of LevelDB's own text log before it begins again. One predecessor is
/// kept.
constexpr size_t info_log_bytes_max = 1'048'576;

/// Bytes of FORMAT and CURRENT, which have a few lines.
constexpr uint64_t store_name_file_bytes_max = 4'096;

/// Bytes of any other file of a store that is read from its beginning: logs and
/// MANIFEST.
constexpr uint64_t store_file_bytes_max = 4'294'967'296;

/// The data directory counts as gone when this many checks in a row, which are
/// `room_check_interval` apart, did not find it: somebody may move it for a
/// moment.
constexpr size_t place_looks_max = 3;

/// Before a store that found no space is opened again, this many files of this
/// size are written to its directory. An opening makes up to five new files
/// before it removes old ones: a log, a table, MANIFEST, CURRENT and
/// NEWEST_LOG. LevelDB writes its logs in blocks of this size.
constexpr size_t trial_files = 8;
constexpr size_t trial_file_bytes = 32'768;

/// How often tables are rewritten when they still have erased values after a
/// rewrite, since LevelDB may have moved them meanwhile. After that a reader
/// keeps the values, and a later try comes after its end.
constexpr int purge_rounds_max = 4;

/// Findings of a check of a store that are kept, and reads of a database that
/// failed.
constexpr size_t findings_max = 1'000;

} // namespace weir::limits
