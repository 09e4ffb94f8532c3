#pragma once

#include "actors/support/limits.hpp"

#include <algorithm>
#include <cstdint>

namespace weir::actors {

/// What is still let in; each level includes those before it.
enum class intake_level : uint8_t {
  open,
  no_backfill, ///< No repo is fetched, no listing read.
  no_reading,  ///< No stream is read.
  no_requests, ///< Requests that make work are refused.
};

/// Below so much room a level begins; none is larger than the one before.
struct room_marks {
  uint64_t backfill = 0;
  uint64_t reading = 0;
  uint64_t requests = 0;
};

/// What is to stay free of a disk with `total` bytes (architecture.md, When the
/// disk fills up).
/// @param wanted As the operator says; 0: the standard.
constexpr uint64_t disk_reserve(uint64_t wanted, uint64_t total) noexcept {
  return wanted != 0 ? wanted
                     : std::max(limits::disk_reserve_bytes,
                                total / 100 * limits::disk_reserve_percent);
}

/// Intake ends at the reserve, writing requests at half of it.
constexpr room_marks disk_marks(uint64_t reserve) noexcept {
  return {reserve, reserve, reserve / 2};
}

/// Of a memory limit (architecture.md, When memory runs short).
constexpr room_marks memory_marks(uint64_t limit) noexcept {
  const auto above = [limit](uint64_t percent) {
    return limit / 100 * (100 - percent);
  };
  return {above(limits::memory_backfill_percent),
          above(limits::memory_live_percent),
          above(limits::memory_refuse_percent)};
}

/// What is left of a memory limit, as far as a pause can change it: when next
/// to nothing (a thirty-second of it) is on its way through the node, nothing
/// would be won by letting nothing in, and it would stand still for ever.
constexpr uint64_t memory_left(uint64_t limit, uint64_t used,
                               uint64_t passing) noexcept {
  return passing < limit / 32 ? limit : limit - std::min(limit, used);
}

/// When to stop for want of room, and when to go on: a level that has begun
/// ends only with a quarter more than it began with, so that intake does not
/// flap where room comes and goes.
class room_machine {
public:
  /// So much is free now. True: the level is another one.
  bool on_room(uint64_t free, const room_marks& marks) noexcept {
    const auto before = level_;
    const auto lacks = [&](intake_level level, uint64_t mark) {
      return before >= level ? !is_ample(free, mark) : free < mark;
    };
    level_ = lacks(intake_level::no_requests, marks.requests)
               ? intake_level::no_requests
             : lacks(intake_level::no_reading, marks.reading)
               ? intake_level::no_reading
             : lacks(intake_level::no_backfill, marks.backfill)
               ? intake_level::no_backfill
               : intake_level::open;
    return level_ != before;
  }

  intake_level level() const noexcept { return level_; }

  /// Enough to go on after there was less than `mark`.
  static constexpr bool is_ample(uint64_t free, uint64_t mark) noexcept {
    return free >= mark + mark / 4;
  }

private:
  intake_level level_ = intake_level::open;
};

} // namespace weir::actors
