#pragma once

#include "base/error.hpp"
#include "messages/interfaces.hpp"
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

/// The part of NODE that watches memory and disk. It asks a READER for the
/// disk, and tells the actors that take data in.
using room_actor = common_actor::extend<caf::reacts_to<disk_reading>>;

} // namespace weir

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(weir::intake_changed)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(weir::disk_reading)
