#pragma once

#include <cstdint>

namespace weir::storage {

/// Space of the file system that a directory is on, in bytes.
struct disk_space {
  uint64_t free = 0; ///< What may still be written.
  uint64_t total = 0;
  uint64_t device = 0; ///< Which file system it is; 0: the only one.
};

} // namespace weir::storage
