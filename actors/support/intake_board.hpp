#pragma once

#include "actors/support/room_machine.hpp"

#include <array>
#include <atomic>
#include <mutex>
#include <string>
#include <vector>

namespace weir::actors {

/// What a node can be short of.
enum class shortage : uint8_t {
  disk,
  memory,
  /// The store had no space for a write; it takes none until it is reopened.
  store,
  clock, ///< Agreement with the clocks of others.
};

/// The first word of its reason. Never null.
constexpr const char* to_string(shortage x) noexcept {
  switch (x) {
    case shortage::disk:
      return "disk";
    case shortage::memory:
      return "memory";
    case shortage::store:
      return "store";
    case shortage::clock:
      return "clock";
  }
  return "unknown";
}

/// What is let in at this moment, and why not more. NODE writes it; every actor
/// that lets something in reads it. Any thread.
class intake_board {
public:
  static constexpr size_t shortages = 4;

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

  /// Why not everything is open: a word and a sentence each.
  std::vector<std::string> reasons() const {
    const std::lock_guard guard{mutex_};
    std::vector<std::string> out;
    for (size_t i = 0; i < shortages; ++i)
      if (!reasons_[i].empty())
        out.push_back(to_string(shortage(i)) + (": " + reasons_[i]));
    return out;
  }

private:
  std::array<std::atomic<intake_level>, shortages> levels_{};
  mutable std::mutex mutex_;
  std::array<std::string, shortages> reasons_;
};

} // namespace weir::actors
