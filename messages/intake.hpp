#pragma once

#include "base/error.hpp"
#include "storage/disk/disk_space.hpp"

namespace weir {

/// The intake board has changed.
///
/// From: NODE. To: UPSTREAM, SUPERVISOR. Travels: local only.
struct intake_changed {};

/// The free space on the disk. From: READER. To: NODE. Travels: local only.
struct disk_reading {
  result<storage::disk_space> room;
  error failed{}; ///< Why the store has failed for good, if it has.
};

} // namespace weir
