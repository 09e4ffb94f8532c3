#pragma once

#include "actors/upstream/limits.hpp"
#include "base/clock.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace weir::actors {

/// How far a stream is in time: when what its last finished frames tell happened.
///
/// Nobody has proved what a frame says when it is one of a repo that is not
/// tracked, or was refused. So no single frame is believed: the middle one of
/// the last `limits::passed_frames` counts, and what was never there counts as
/// long ago. A time in the future is forgotten with the frame that said it.
///
/// Part of an `upstream_machine`; one thread.
class passed_times {
public:
  /// A frame is finished and all before it. Those that name no time are left
  /// out.
  void add(wall_time changed) noexcept {
    if (changed == wall_time{})
      return;
    last_[next_] = changed;
    next_ = (next_ + 1) % last_.size();
  }

  void clear() noexcept { last_.fill({}); }

  wall_time middle() const noexcept {
    auto x = last_;
    const auto at = x.begin() + x.size() / 2;
    std::nth_element(x.begin(), at, x.end());
    return *at;
  }

private:
  std::array<wall_time, limits::passed_frames> last_{};
  size_t next_ = 0;
};

} // namespace weir::actors
