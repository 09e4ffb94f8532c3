#pragma once

#include "base/clock.hpp"

#include <cstdint>
#include <limits>

namespace weir {

/// Age in seconds of a stored time, which is in Unix seconds. A time in the
/// future was written while the clock was wrong. It counts as infinitely old;
/// otherwise the entry would look fresh until that time has come.
inline int64_t age_of(int64_t at, wall_time now) noexcept {
  return at > now.seconds() ? std::numeric_limits<int64_t>::max()
                            : now.seconds() - at;
}

} // namespace weir
