#pragma once

#include "actors/support/limits_health.hpp"
#include "actors/upstream/limits.hpp"
#include "actors/upstream/stream_flight.hpp"
#include "actors/upstream/upstream_types.hpp"
#include "base/clock.hpp"
#include "base/token_bucket.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace weir::actors {

/// Why a stream is not read, and what ends it.
enum class admission_wait : uint8_t {
  none,       ///< Nothing is in the way: its socket has credit of both kinds.
  connection, ///< There is no socket. Ends with `on_open`.
  room,       ///< NODE lets nothing in. Ends with `on_room`.
  window, ///< Its window is full. Ends when frames are finished.
  rate,   ///< Its rate is used up. Ends at `wake_at`.
};

/// What one stream may deliver: only this gives its socket credit
/// (docs/actors.md, What a stream may deliver; hostile-inputs.md 2.1.32).
///
/// # The rule
/// A socket is read while it has credit for a frame and for a byte
/// (net/ws_client.hpp). After each `give` it has both, or `waits_for` names the
/// reason, and every reason has an event that ends it. `on_look` compares this
/// with what the socket says.
///
/// # Window
/// What is in flight and what was granted stay within a number of frames and of
/// bytes. The last message may overdraw the bytes, so that one larger than the
/// window still passes. All that `give` returns must be granted.
///
/// # Rate
/// A token bucket that one second fills; what exceeds it waits at the host. A
/// refused frame costs `limits::refused_frame_cost` events, because of its
/// check. It is charged afterwards, so the stream can owe: one second of such
/// frames at most.
///
/// Part of an `upstream_machine`; one thread.
class admission_machine {
public:
  struct credit {
    size_t frames = 0;
    size_t bytes = 0;
  };

  /// @param flight What of the stream is in the node. Must outlive this.
  admission_machine(const stream_flight& flight,
                    const upstream_options& options) noexcept
    : flight_(flight), frames_max_(options.frames_max),
      bytes_max_(static_cast<int64_t>(options.bytes_max)),
      per_second_(options.events_per_second),
      portion_(std::max<size_t>(per_second_ / 10, 1)),
      bucket_(static_cast<double>(per_second_),
              static_cast<double>(per_second_)) {}

  /// A new socket has no credit.
  void on_open() noexcept {
    open_ = true;
    frames_ = 0;
    bytes_ = 0;
    stalled_since_.reset();
  }

  /// The socket is gone, or given up.
  void on_closed() noexcept { open_ = false; }

  /// Whether NODE lets streams in.
  void on_room(bool is_there) noexcept { room_ = is_there; }

  /// The socket brought a message.
  void on_frame(size_t bytes) noexcept {
    frames_ -= std::min<size_t>(frames_, 1);
    bytes_ -= static_cast<int64_t>(bytes);
    stalled_since_.reset();
  }

  /// This number of frames failed verification.
  void on_refused(size_t frames, steady_time now) noexcept {
    const auto cost = static_cast<double>(limits::refused_frame_cost);
    bucket_.charge(now, static_cast<double>(frames) * cost,
                   static_cast<double>(per_second_) * cost);
  }

  /// What the socket gets now. Call it after every event that may end a wait.
  /// Small portions would cost a wake-up each; a socket that lacks either kind
  /// of credit does not wait for a large one.
  credit give(steady_time now) {
    wake_at_.reset();
    if (!open_ || !room_)
      return {};
    const auto frames = frames_free() - std::min(frames_, frames_free());
    const auto bytes = std::max<int64_t>(bytes_free() - bytes_, 0);
    if (has_credit() && frames < frames_max_ / 8 && bytes < bytes_max_ / 8)
      return {};
    const credit out{within_rate(frames, now), static_cast<size_t>(bytes)};
    bucket_.take(now, static_cast<double>(out.frames));
    frames_ += out.frames;
    bytes_ += bytes;
    if (frames_ == 0 && frames > 0)
      wake_at_ = now + bucket_.delay(now, static_cast<double>(portion_));
    return out;
  }

  /// The time at which `give` must be called even if nothing happens.
  const std::optional<steady_time>& wake_at() const noexcept {
    return wake_at_;
  }

  /// The first reason for which the socket may be without credit.
  admission_wait waits_for(steady_time now) const noexcept {
    if (!open_)
      return admission_wait::connection;
    if (!room_)
      return admission_wait::room;
    if (frames_free() == 0 || bytes_free() == 0)
      return admission_wait::window;
    return within_rate(frames_free(), now) == 0 ? admission_wait::rate
                                                : admission_wait::none;
  }

  /// Everything that came is finished, and the socket is read: silence counts.
  bool is_quiet() const noexcept {
    return open_ && room_ && flight_.size() == 0 && has_credit()
           && !stalled_since_;
  }

  /// The socket says whether it has credit. Called again and again.
  /// @returns whether it had none for `limits::credit_stall_max` without a
  /// reason: then only another socket helps
  bool on_look(bool is_read, steady_time now) {
    const auto may_wait
      = !open_ || (!has_credit() && waits_for(now) != admission_wait::none);
    if (is_read || may_wait)
      stalled_since_.reset();
    else if (!stalled_since_)
      stalled_since_ = now;
    if (!stalled_since_ || now - *stalled_since_ < limits::credit_stall_max)
      return false;
    stalls_ = stalls_ > 0 && now - stalled_at_ <= limits::health_memory
                ? stalls_ + 1
                : 1;
    stalled_at_ = now;
    return true;
  }

  /// Sockets stalled so often that a new connection alone does not help.
  bool keeps_stalling(steady_time now) const noexcept {
    return stalls_ >= limits::health_stalls_min
           && now - stalled_at_ <= limits::health_memory;
  }

private:
  bool has_credit() const noexcept { return frames_ > 0 && bytes_ > 0; }

  /// Frames and bytes of the window that are not in flight.
  size_t frames_free() const noexcept {
    return frames_max_ - std::min(flight_.size(), frames_max_);
  }

  int64_t bytes_free() const noexcept {
    return std::max<int64_t>(bytes_max_ - static_cast<int64_t>(flight_.bytes()),
                             0);
  }

  /// How many of `frames` the rate allows: a tenth of a second's worth at
  /// least, or none, because single ones would cost a wake-up each.
  size_t within_rate(size_t frames, steady_time now) const noexcept {
    if (per_second_ == 0)
      return frames;
    const auto level = bucket_.level(now);
    return level < static_cast<double>(std::min(frames, portion_))
             ? 0
             : std::min(frames, static_cast<size_t>(level));
  }

  const stream_flight& flight_;
  size_t frames_max_;
  int64_t bytes_max_;
  size_t per_second_; ///< 0: as many as come.
  size_t portion_;    ///< The smallest grant, unless fewer frames are wanted.
  token_bucket bucket_;
  bool open_ = false;
  bool room_ = true;
  size_t frames_ = 0; ///< Credit that the socket holds.
  int64_t bytes_ = 0; ///< Below zero: its last message was larger.
  std::optional<steady_time> wake_at_;
  std::optional<steady_time> stalled_since_;
  size_t stalls_ = 0;      ///< Sockets given up because nobody read them.
  steady_time stalled_at_; ///< When the last one was given up.
};

} // namespace weir::actors
