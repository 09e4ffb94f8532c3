#pragma once

#include "base/clock.hpp"
#include "base/limits.hpp"
#include "base/limits_heap.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>

namespace weir::actors {

/// When the allocator is told to return what it keeps of memory that was freed,
/// so that a crowd or a large repo that is gone leaves a process no larger for
/// months. No clock, threads or I/O in here.
///
/// While memory is short that is often. Else it is when the process has grown
/// by `heap_return_bytes` since it was smallest, and next to nothing was on its
/// way through for `heap_rest_time`. What is still in use afterwards counts as
/// its new smallest size, or it would be told again and again.
class heap_return {
public:
  /// @param resident Memory of the process.
  /// @param passing Bytes on their way through the node.
  /// @returns whether to do it now
  bool on_measure(uint64_t resident, uint64_t passing, bool is_short,
                  steady_time now) {
    smallest_ = std::min(smallest_.value_or(resident), resident);
    if (passing >= limits::heap_rest_bytes || !rests_since_)
      rests_since_ = now;
    const auto rests = now - *rests_since_ >= limits::heap_rest_time
                       && resident >= *smallest_ + limits::heap_return_bytes;
    if (now < next_ || !(is_short || rests))
      return false;
    next_ = now + limits::room_check_interval;
    smallest_.reset();
    return true;
  }

private:
  std::optional<uint64_t> smallest_; ///< Since it was done.
  std::optional<steady_time> rests_since_;
  steady_time next_;
};

} // namespace weir::actors
