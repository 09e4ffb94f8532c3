#pragma once

#include "actors/support/limits_health.hpp"
#include "actors/upstream/event_rate.hpp"
#include "actors/upstream/limits.hpp"
#include "base/clock.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace weir::actors {

/// How much the socket of one stream may bring: what is in flight and what was
/// granted stay within a window of frames and bytes, and the rate is kept.
///
/// Frames and bytes are counted as the socket counts them: it is read while
/// both are above zero, and its last message may overdraw the bytes. So what is
/// said here to be granted must be granted, whichever of the two it is.
///
/// Part of an `upstream_machine`; one thread.
class stream_credit {
public:
  struct portion {
    size_t frames = 0;
    size_t bytes = 0;
  };

  stream_credit(size_t frames_max, size_t bytes_max, event_rate rate)
    : frames_max_(frames_max), bytes_max_(static_cast<int64_t>(bytes_max)),
      rate_(rate) {
    // nop
  }

  /// Refused frames change it.
  event_rate& rate() noexcept { return rate_; }

  /// A new socket has nothing.
  void on_open() noexcept {
    frames_ = 0;
    bytes_ = 0;
    starved_ = false;
    stalled_since_.reset();
  }

  /// A frame came.
  void on_frame(size_t size) noexcept {
    frames_ -= std::min<size_t>(frames_, 1);
    bytes_ -= static_cast<int64_t>(size);
    stalled_since_.reset();
  }

  /// What the socket gets now, beside so much in flight. Small portions would
  /// cost a wake-up each; a socket that lacks either kind of credit must not
  /// wait for a large one.
  portion give(size_t flying_frames, size_t flying_bytes, steady_time now) {
    ask_again_ = false;
    const auto frames = frames_max_
                        - std::min(flying_frames + frames_, frames_max_);
    const auto room = std::max<int64_t>(
      bytes_max_ - static_cast<int64_t>(flying_bytes), 0);
    const auto size = std::max<int64_t>(room - bytes_, 0);
    if (is_enough() && frames < frames_max_ / 8 && size < bytes_max_ / 8)
      return {};
    const portion out{rate_.allow(frames, now), static_cast<size_t>(size)};
    frames_ += out.frames;
    bytes_ += size;
    const auto was_starved = starved_;
    starved_ = frames_ == 0 && frames > 0;
    // Who was starved will be again: a later timer now and an earlier one when
    // its portion has come would be two.
    ask_again_ = starved_ || was_starved;
    if (ask_again_ && next_ <= now)
      next_ = rate_.next(now);
    return out;
  }

  /// When `give` wants to be called again, if at all: the rate is used up, or
  /// will be.
  std::optional<steady_time> next() const noexcept {
    return ask_again_ ? std::optional{next_} : std::nullopt;
  }

  /// Nothing may come: the rate is used up.
  bool starved() const noexcept { return starved_; }

  /// The socket has credit of both kinds, so its silence is the host's.
  bool is_enough() const noexcept { return frames_ > 0 && bytes_ > 0; }

  /// The socket says whether it is read.
  /// @returns whether it has not been for too long although it should have
  bool on_look(bool is_read, steady_time now) {
    if (is_read || !is_enough())
      stalled_since_.reset();
    else if (!stalled_since_)
      stalled_since_ = now;
    const auto over = stalled_since_
                      && now - *stalled_since_ >= limits::credit_stall_max;
    if (over) {
      stalls_ = stalls_recently(now) ? stalls_ + 1 : 1;
      stalled_at_ = now;
    }
    return over;
  }

  /// It was so often, each time not long after the last, that another socket
  /// alone does not mend it.
  bool keeps_stalling(steady_time now) const noexcept {
    return stalls_ >= limits::health_stalls_min && stalls_recently(now);
  }

  bool stalled() const noexcept { return stalled_since_.has_value(); }

private:
  bool stalls_recently(steady_time now) const noexcept {
    return stalls_ > 0 && now - stalled_at_ <= limits::health_memory;
  }

  size_t frames_max_;
  int64_t bytes_max_;
  event_rate rate_;
  size_t frames_ = 0; ///< Credit that the socket holds.
  int64_t bytes_ = 0; ///< Below zero: its last message was larger.
  bool starved_ = false;
  bool ask_again_ = false;
  steady_time next_; ///< When there is a portion again, as was last said.
  std::optional<steady_time> stalled_since_;
  size_t stalls_ = 0;      ///< Sockets given up because nobody read them.
  steady_time stalled_at_; ///< The last of them.
};

} // namespace weir::actors
