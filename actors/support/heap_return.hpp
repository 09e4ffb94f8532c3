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
  freed,  ///< Freed memory that the allocator keeps.
  caches, ///< The same, after the store gave up its caches.
};

/// Decides when memory is given back, so that a process does not stay large
/// after a backfill, many REPOs or a large repo. No clock, threads or I/O here.
///
/// While memory is short, the allocator gives back often. Otherwise it does so
/// when the process has grown by `heap_return_bytes` since it was smallest, and
/// almost nothing passed through the node for `heap_rest_time`. Memory that is
/// still in use afterwards counts as the new smallest size: otherwise the
/// allocator would be asked again and again. Caches follow the same rule since
/// they were last given up, but at most once in `cache_release_interval`.
class heap_return {
public:
  /// @param resident Memory of the process.
  /// @param passing Bytes in the queues of the node.
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

    std::optional<uint64_t> smallest; ///< Smallest since memory was given back.
    steady_time next;
  };

  growth freed_;
  growth caches_;
  std::optional<steady_time> rests_since_;
};

} // namespace weir::actors
