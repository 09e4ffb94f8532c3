#pragma once

#include "actors/support/intake_board.hpp"
#include "messages/intake.hpp"

#include <optional>

namespace weir::actors {

/// Whether this reading replaces an earlier one. The reading of the first store
/// that failed counts, else that of the disk with the least above its reserve.
/// @param wanted The operator's value for the reserve; 0: the standard.
inline bool counts_before(const disk_reading& x, const disk_reading& earlier,
                          uint64_t wanted) noexcept {
  if (earlier.failed || !earlier.room)
    return false;
  if (x.failed || !x.room)
    return true;
  return x.room->device != earlier.room->device
         && x.room->free + disk_reserve(wanted, earlier.room->total)
              < earlier.room->free + disk_reserve(wanted, x.room->total);
}

/// Whether enough is free to open a store again that found no space.
inline bool has_ample_room(const disk_reading& x, uint64_t wanted) noexcept {
  return x.room
         && room_machine::is_ample(x.room->free,
                                   disk_reserve(wanted, x.room->total));
}

/// Why the node must end and open its store anew; none: it goes on.
inline std::optional<error> reason_to_end(const disk_reading& x) {
  if (x.failed && x.failed->code == ec::storage_failure)
    return x.failed;
  if (x.trial && *x.trial)
    return fail(ec::disk_full, "there is space again after the disk was full");
  return std::nullopt;
}

} // namespace weir::actors
