#pragma once

#include "actors/support/intake_board.hpp"
#include "messages/intake.hpp"

namespace weir::actors {

/// Whether the disk of a node is the one of this reading rather than that of an
/// earlier one: the first store that failed counts, then the disk that has less
/// above its reserve. Of stores on the same disk the first one counts.
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
