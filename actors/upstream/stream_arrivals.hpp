#pragma once

#include "actors/support/limits.hpp"
#include "actors/upstream/limits.hpp"
#include "base/clock.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <optional>
#include <utility>

namespace weir::actors {

/// How long a stream must be silent to show that it has sent everything.
///
/// Silence alone shows little, because a relay that is behind makes pauses,
/// too. So this class remembers how late the last frames came, by the times
/// that they name. After frames that came in time, `limits::passed_quiet_min`
/// is enough. After late ones it takes longer, the later they were and the more
/// the stream fell behind in one pause: a host that catches up makes no such
/// pauses, and one that falls behind makes many.
///
/// A PDS whose clock is slow only seems late. It is recognised when the
/// smallest delay of its frames stays the same over `limits::passed_frames` of
/// them; from then on delays are measured from that one. A relay carries many
/// hosts, so it is always judged by the time of day.
///
/// The time in a frame may be wrong. So a stream counts as late only when the
/// last `limits::late_frames_min` frames are all late, or the median of the
/// last `limits::passed_frames` is. Each time is kept as a difference to the
/// clock that never jumps, so that a wrong time of day has no later effect.
///
/// Part of an `upstream_machine`; one thread.
class stream_arrivals {
public:
  using duration = std::chrono::microseconds;

  explicit stream_arrivals(bool relay) : relay_(relay) {}

  /// A new connection. A stream that was late still counts as late, and the
  /// time between two connections is no pause of the stream.
  void on_open() noexcept {
    last_.reset();
    first_.reset();
  }

  /// Several frames came together. The next `add` is the first of them.
  void on_batch() noexcept { batch_begins_ = true; }

  /// @param changed When the frame's event happened; 0 when it is not known.
  void add(wall_time changed, steady_time now) noexcept {
    if (changed == wall_time{})
      return;
    const duration ahead{changed.micros - now.micros};
    note_growth(ahead, now);
    note_least(ahead);
    ahead_[count_++ % ahead_.size()] = ahead;
    last_ = {ahead, now};
    if (std::exchange(batch_begins_, false))
      first_ = ahead;
  }

  /// After a silence of this length the stream has sent everything.
  duration quiet_min(steady_time now, wall_time wall) const noexcept {
    if (count_ == 0)
      return limits::passed_quiet_min;
    const auto late = delay(std::min(middle(), best_of_last()), now, wall);
    if (late <= limits::frame_delay_max)
      return limits::passed_quiet_min;
    const auto by_delay = std::min<duration>(late / limits::quiet_delay_part,
                                             limits::quiet_by_delay_max);
    const auto by_growth = limits::quiet_growth_factor
                           * std::max(growth_, former_growth_);
    return std::clamp<duration>(std::max(by_delay, by_growth),
                                limits::late_quiet_min,
                                limits::late_quiet_max);
  }

  /// Whether the frame that ended the last silence was late: then more waited
  /// at that time. After a batch without a time the last dated one counts.
  bool is_late(steady_time now, wall_time wall) const noexcept {
    return first_ && delay(*first_, now, wall) > limits::frame_delay_max;
  }

private:
  struct arrival {
    duration ahead; ///< Its time minus the clock that never jumps.
    steady_time at;
  };

  /// Remembers by how much the stream fell behind in the worst pause of the
  /// last one or two `limits::late_quiet_max`.
  void note_growth(duration ahead, steady_time now) noexcept {
    if (now - growth_since_ >= limits::late_quiet_max) {
      former_growth_ = now - growth_since_ >= 2 * limits::late_quiet_max
                         ? duration{0}
                         : growth_;
      growth_ = {};
      growth_since_ = now;
    }
    if (last_)
      growth_ = std::max(growth_,
                         std::min<duration>(now - last_->at,
                                            last_->ahead - ahead));
  }

  /// Counts frames since the smallest delay last fell by more than
  /// `limits::frame_delay_jitter`, be it in many small steps, as in a backlog.
  void note_least(duration ahead) noexcept {
    if (!least_ || ahead - counted_from_ > limits::frame_delay_jitter) {
      frames_since_least_ = 0;
      counted_from_ = ahead;
    } else {
      ++frames_since_least_;
    }
    least_ = std::max(least_.value_or(ahead), ahead);
  }

  duration middle() const noexcept {
    auto x = ahead_;
    const auto end = x.begin()
                     + static_cast<ptrdiff_t>(std::min(count_, x.size()));
    const auto at = x.begin() + (end - x.begin()) / 2;
    std::nth_element(x.begin(), at, end);
    return *at;
  }

  /// The median delay of the last frames.
  duration best_of_last() const noexcept {
    const auto of = std::min(count_, limits::late_frames_min);
    auto out = ahead_[(count_ - 1) % ahead_.size()];
    for (size_t i = 2; i <= of; ++i)
      out = std::max(out, ahead_[(count_ - i) % ahead_.size()]);
    return out;
  }

  duration delay(duration ahead, steady_time now,
                 wall_time wall) const noexcept {
    const duration by_day = duration{wall.micros - now.micros} - ahead;
    if (relay_ || frames_since_least_ < limits::passed_frames)
      return by_day;
    return std::min(by_day, *least_ - ahead);
  }

  bool relay_;
  std::array<duration, limits::passed_frames> ahead_{};
  size_t count_ = 0; ///< Frames, of all connections.
  std::optional<arrival> last_; ///< The last frame of this connection.
  std::optional<duration> first_; ///< First time of the last dated batch.
  bool batch_begins_ = false;
  duration growth_{0};        ///< The worst pause since `growth_since_`.
  duration former_growth_{0}; ///< The worst pause before that.
  steady_time growth_since_{};
  std::optional<duration> least_; ///< The largest `ahead` on any connection.
  duration counted_from_{0}; ///< What `least_` was when the count began.
  size_t frames_since_least_ = 0;
};

} // namespace weir::actors
