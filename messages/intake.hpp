#pragma once

#include "base/error.hpp"
#include "storage/format/disk_space.hpp"

namespace weir {

/// The intake board has changed. From: NODE. To: UPSTREAM, SUPERVISOR.
struct intake_changed {};

/// The free space on the disk that has the least above its reserve.
/// From: READER. To: NODE.
struct disk_reading {
  result<storage::disk_space> room;
  error failed{}; ///< Why the store has failed for good, if it has.
  /// The first one whose store is on this disk.
  uint16_t partition = 0;
};

} // namespace weir
