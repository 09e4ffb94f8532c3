#pragma once

#include "actors/support/intake_board.hpp"
#include "messages/intake.hpp"

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

} // namespace weir::actors
