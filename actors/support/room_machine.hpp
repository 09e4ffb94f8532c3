#pragma once

#include "actors/support/limits.hpp"

#include <algorithm>
#include <cstdint>

namespace weir::actors {

/// What is still let in. Each level includes the restrictions of those before.
enum class intake_level : uint8_t {
  open,
  no_backfill, ///< No repo is fetched, no listing read.
  no_reading,  ///< No stream is read.
  no_requests, ///< Requests that make work are refused.
};

/// The amounts of room below which each level begins. None is larger than the
/// one before.
struct room_marks {
  uint64_t backfill = 0;
  uint64_t reading = 0;
  uint64_t requests = 0;
};

/// The bytes that must stay free on a disk with `total` bytes (architecture.md,
/// When the disk fills up).
/// @param wanted The operator's value; 0: the standard.
constexpr uint64_t disk_reserve(uint64_t wanted, uint64_t total) noexcept {
  return wanted != 0 ? wanted
                     : std::max(limits::disk_reserve_bytes,
                                total / 100 * limits::disk_reserve_percent);
}

/// Intake ends at the reserve; writing requests end at half of it.
constexpr room_marks disk_marks(uint64_t reserve) noexcept {
  return {reserve, reserve, reserve / 2};
}

/// Marks for a memory limit (architecture.md, When memory runs short).
constexpr room_marks memory_marks(uint64_t limit) noexcept {
  const auto above = [limit](uint64_t percent) {
    return limit / 100 * (100 - percent);
  };
  return {above(limits::memory_backfill_percent),
          above(limits::memory_live_percent),
          above(limits::memory_refuse_percent)};
}

/// What is left of a memory limit, as far as a pause of intake can change it.
/// When almost nothing (less than a thirty-second of the limit) is in the
/// node's queues, a pause would free nothing and never end: the whole limit
/// counts as left.
constexpr uint64_t memory_left(uint64_t limit, uint64_t used,
                               uint64_t passing) noexcept {
  return passing < limit / 32 ? limit : limit - std::min(limit, used);
}

/// Decides when intake stops for lack of room and when it goes on. A level that
/// began ends only when there is a quarter more room than at its mark, so that
/// intake does not switch on and off all the time.
class room_machine {
public:
  /// Takes the room that is free now. Returns true when the level changed.
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

  /// Whether there is enough room to go on after there was less than `mark`.
  static constexpr bool is_ample(uint64_t free, uint64_t mark) noexcept {
    return free >= mark + mark / 4;
  }

private:
  intake_level level_ = intake_level::open;
};

} // namespace weir::actors
