#pragma once

#include "base/clock.hpp"
#include "messages/frames.hpp"

#include <caf/send.hpp>

#include <algorithm>
#include <optional>

namespace weir::actors {

/// One timer of an actor. It remembers the earliest requested time and ignores
/// ticks that were replaced, because CAF cannot cancel a delayed message. This
/// is the clock seam of actors: nothing else sends delayed messages.
class actor_timer {
public:
  /// Asks for a `tick` at `at`, unless an earlier one is set.
  template <class Self>
  void arm(Self* self, steady_time now, steady_time at) {
    if (due_ && *due_ <= at)
      return;
    due_ = at;
    const auto wait = std::max(at - now, std::chrono::microseconds{0});
    self->delayed_send(self, wait, tick{++generation_});
  }

  /// True when this tick is the last one that was requested.
  bool fired(const tick& x) noexcept {
    if (x.generation != generation_)
      return false;
    due_.reset();
    return true;
  }

private:
  std::optional<steady_time> due_;
  uint64_t generation_ = 0;
};

} // namespace weir::actors
