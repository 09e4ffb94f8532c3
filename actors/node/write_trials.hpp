#pragma once

#include "actors/node/disk_choice.hpp"
#include "actors/node/limits.hpp"
#include "base/clock.hpp"

#include <algorithm>
#include <optional>
#include <string>

namespace weir::actors {

/// The pause before the next attempt to use a disk that has refused.
/// @param last The pause before this attempt; 0: it was the first one.
constexpr std::chrono::seconds
pause_after_refusal(std::chrono::seconds last) noexcept {
  return std::clamp(2 * last, limits::disk_trial_pause_min,
                    limits::disk_trial_pause_max);
}

/// Decides when a node whose store found no space tries whether its disks take
/// writes again. If it started anew on a disk that takes none, the start would
/// fail, and nobody could read from the node either. Free bytes do not prove
/// that a disk takes writes: its inodes, a quota or a thin volume may be used
/// up.
class write_trials {
public:
  /// Whether the next look at the disks includes a trial if enough is free.
  bool is_due(steady_time now) const noexcept {
    return !next_ || *next_ <= now;
  }

  /// Takes what a look has found.
  /// @param ample Enough was free for a trial.
  /// @returns for people: why the store is only read although enough is free;
  /// none when there is nothing new to say.
  std::optional<std::string> on_look(const disk_reading& x, bool ample,
                                     steady_time now) {
    if (!ample)
      *this = {}; // Earlier refusals say nothing about a disk that was cleared.
    if (!x.trial || *x.trial)
      return std::nullopt;
    const auto& why = x.trial->error();
    pause_ = pause_after_refusal(pause_);
    next_ = now + pause_;
    return "the store is only read because its disk refuses writes: "
           + why.context
           + (why.code == ec::disk_full ? "; are its inodes (df -i), a quota "
                                          "or a thin volume used up?"
                                        : "");
  }

  /// Time between the last refused trial and the next one.
  std::chrono::seconds pause() const noexcept { return pause_; }

private:
  std::chrono::seconds pause_{};
  std::optional<steady_time> next_; ///< None: at once.
};

} // namespace weir::actors
