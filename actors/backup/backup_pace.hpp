#pragma once

#include "actors/backup/limits.hpp"
#include "base/clock.hpp"

#include <algorithm>

namespace weir::actors {

/// When the next piece of a backup may be read. After each piece there is a
/// rest as long as the piece took, so a backup takes at most half of what the
/// disk can do, and less of a disk that is busy.
constexpr steady_time after_rest(steady_time began, steady_time now) noexcept {
  const std::chrono::microseconds most = limits::backup_rest_max;
  const std::chrono::microseconds worked{now.micros - began.micros};
  return {now.micros + std::min(worked, most).count()};
}

} // namespace weir::actors
