#pragma once

#include "base/error.hpp"
#include "storage/format/disk_space.hpp"

#include <optional>

namespace weir {

/// The intake board has changed. From: NODE. To: UPSTREAM, SUPERVISOR.
struct intake_changed {};

/// What is known of the disk of one store: of the one that has failed, or else
/// of the one with the least free space above its reserve.
/// From: READER. To: NODE.
struct disk_reading {
  result<storage::disk_space> room; ///< Or why it is not known.
  /// Why the store cannot be written any more; empty while it can be written.
  std::optional<error> failed{};
  /// The first one whose store is on this disk.
  uint16_t partition = 0;
  /// Whether the disks of all stores take writes, or why one does not; empty
  /// when this was not tried.
  std::optional<result<void>> trial{};
};

} // namespace weir
