#pragma once

#include <cstddef>
#include <cstdint>

/// Bounds of files that others may have prepared.
namespace weir::limits {

/// FORMAT and CURRENT of a store; both are a few lines.
constexpr uint64_t store_name_file_bytes_max = 4'096;
/// Every other file of a store that is read from its begin: logs and MANIFEST.
constexpr uint64_t store_file_bytes_max = 4'294'967'296;

} // namespace weir::limits
