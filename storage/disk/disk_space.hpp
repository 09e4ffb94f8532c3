#pragma once

#include <cstdint>

namespace weir::storage {

/// Bytes of the file system that a directory lies on.
struct disk_space {
  uint64_t free = 0; ///< That may still be written.
  uint64_t total = 0;
};

} // namespace weir::storage
