#pragma once

#include <cstddef>
#include <cstdint>

/// Bounds of what others may do to the files of a store.
namespace weir::limits {

/// FORMAT and CURRENT of a store; both are a few lines.
constexpr uint64_t store_name_file_bytes_max = 4'096;
/// Every other file of a store that is read from its begin: logs and MANIFEST.
constexpr uint64_t store_file_bytes_max = 4'294'967'296;
/// The data directory is gone when it was not in its place so many times in a
/// row, `room_check_interval` apart: somebody may move it for a moment.
constexpr size_t place_looks_max = 3;

} // namespace weir::limits
