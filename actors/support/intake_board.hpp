#pragma once

#include "actors/support/limits.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

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

/// Whether caches are emptied: more is in use than backfill may use. Unlike
/// with `memory_left`, it does not matter what a pause of intake would free.
constexpr bool memory_is_short(uint64_t limit, uint64_t used) noexcept {
  return used > limit - memory_marks(limit).backfill;
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

/// What a node can be short of. In the order of `intake_board::names`.
enum class shortage : uint8_t {
  disk,
  memory,
  /// The store had no space for a write; it takes none until it is reopened.
  store,
  clock, ///< Agreement with the clocks of others.
};

/// What is let in at this moment, and why not more. NODE writes it; every actor
/// that lets something in reads it. Any thread.
class intake_board {
public:
  /// The first word of each reason, in the order of `shortage`.
  static constexpr std::array names{"disk", "memory", "store", "clock"};
  static_assert(names.size() == static_cast<size_t>(shortage::clock) + 1);

  /// @param why A sentence for people; empty when the level is open.
  void set(shortage of, intake_level to, std::string why) {
    const auto i = static_cast<size_t>(of);
    const std::lock_guard guard{mutex_};
    levels_[i] = to;
    reasons_[i] = std::move(why);
  }

  intake_level level(shortage of) const noexcept {
    return levels_[static_cast<size_t>(of)];
  }

  /// The strictest level.
  intake_level level() const noexcept {
    auto out = intake_level::open;
    for (const auto& x : levels_)
      out = std::max(out, x.load());
    return out;
  }

  bool backfills() const noexcept {
    return level() < intake_level::no_backfill;
  }
  bool reads() const noexcept { return level() < intake_level::no_reading; }
  bool takes_requests() const noexcept {
    return level() < intake_level::no_requests;
  }
  /// Whether running fetches may go on. Their spooled data takes memory, so
  /// they end when the disk has no room at all, and are made again later.
  bool keeps_fetches() const noexcept {
    return level(shortage::disk) < intake_level::no_requests;
  }

  /// Why not everything is open: a word and a sentence each.
  std::vector<std::string> reasons() const {
    const std::lock_guard guard{mutex_};
    std::vector<std::string> out;
    for (size_t i = 0; i < names.size(); ++i)
      if (!reasons_[i].empty())
        out.push_back(names[i] + (": " + reasons_[i]));
    return out;
  }

private:
  std::array<std::atomic<intake_level>, names.size()> levels_{};
  mutable std::mutex mutex_;
  std::array<std::string, names.size()> reasons_;
};

} // namespace weir::actors
