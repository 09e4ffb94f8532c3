#pragma once

#include "actors/support/limits.hpp"
#include "base/clock.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>

namespace weir::actors {

/// What a node gives back of its memory.
enum class memory_return : uint8_t {
  nothing,
  freed,  ///< What the allocator keeps of memory that was freed.
  caches, ///< That, after the store gave up what only makes it faster.
};

/// When memory is given back, so that a backfill, a crowd or a large repo that is
/// over leaves a process no larger for months. No clock, threads or I/O in here.
///
/// While memory is short the allocator gives back often. Else it does when the
/// process has grown by `heap_return_bytes` since it was smallest, and next to
/// nothing was on its way through for `heap_rest_time`. What is still in use
/// afterwards counts as the new smallest size, or it would be told again and
/// again. For the caches the same is asked since they were given up last, and
/// that is `cache_release_interval` ago.
class heap_return {
public:
  /// @param resident Memory of the process.
  /// @param passing Bytes on their way through the node.
  memory_return on_measure(uint64_t resident, uint64_t passing, bool is_short,
                           steady_time now) {
    freed_.see(resident);
    caches_.see(resident);
    if (passing >= limits::heap_rest_bytes || !rests_since_)
      rests_since_ = now;
    const auto rests = now - *rests_since_ >= limits::heap_rest_time;
    if (rests && caches_.is_due(resident, now)) {
      caches_.done(now + limits::cache_release_interval);
      freed_.done(now + limits::room_check_interval);
      return memory_return::caches;
    }
    if (now < freed_.next
        || !(is_short || (rests && freed_.is_due(resident, now))))
      return memory_return::nothing;
    freed_.done(now + limits::room_check_interval);
    return memory_return::freed;
  }

private:
  struct growth {
    void see(uint64_t resident) {
      smallest = std::min(smallest.value_or(resident), resident);
    }

    bool is_due(uint64_t resident, steady_time now) const {
      return now >= next && resident >= *smallest + limits::heap_return_bytes;
    }

    void done(steady_time until) {
      smallest.reset();
      next = until;
    }

    std::optional<uint64_t> smallest; ///< Since it was done.
    steady_time next;
  };

  growth freed_;
  growth caches_;
  std::optional<steady_time> rests_since_;
};

} // namespace weir::actors
