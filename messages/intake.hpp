#pragma once

#include "base/error.hpp"
#include "messages/interfaces.hpp"
#include "storage/disk/disk_space.hpp"

namespace weir {

/// The intake board says something else now.
///
/// From: NODE. To: UPSTREAM, SUPERVISOR. Travels: local only.
struct intake_changed {};

/// From: READER. To: NODE. Travels: local only.
struct disk_reading {
  result<storage::disk_space> room;
  error failed{}; ///< What the store has failed for, for good, if it has.
};

/// NODE's eye on room: asks a READER for the disk, and tells who lets in.
using room_actor = common_actor::extend<caf::reacts_to<disk_reading>>;

} // namespace weir

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(weir::intake_changed)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(weir::disk_reading)
