#pragma once

#include "base/clock.hpp"

#include <cstdint>
#include <limits>

namespace weir {

/// Seconds since a wall time that a row or a cache holds, in Unix seconds. A
/// time ahead of now was written by a clock that has been put right since: it
/// is as old as can be, or it would count as young until that time has come.
inline int64_t age_of(int64_t at, wall_time now) noexcept {
  return at > now.seconds() ? std::numeric_limits<int64_t>::max()
                            : now.seconds() - at;
}

} // namespace weir
