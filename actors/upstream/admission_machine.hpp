#pragma once

#include "actors/upstream/stream_flight.hpp"
#include "actors/upstream/upstream_types.hpp"
#include "base/clock.hpp"
#include "base/token_bucket.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace weir::actors {

/// Why a stream is not read, and what ends it.
enum class admission_wait : uint8_t {
  none,       ///< Nothing is in the way: its socket has credit of both kinds.
  connection, ///< There is no socket. Ends with `on_open`.
  room,       ///< NODE lets nothing in. Ends with `on_room`.
  window,     ///< As much as may be is in flight. Ends when frames are finished.
  rate,       ///< It had its events, or owes some. Ends at `wake_at`.
};

/// What one stream may deliver: the only place that gives its socket credit
/// (docs/actors.md, What a stream may deliver; hostile-inputs.md 2.1.32).
///
/// # The rule
/// A socket is read while it has credit for a frame and for a byte
/// (net/ws_client.hpp). After each `give` it has both, or `waits_for` names the
/// reason, and every reason has an event that ends it. So a stream with unread
/// bytes and no debt is read. `on_look` compares this with what the socket says,
/// and finds out should it ever not hold.
///
/// # Window
/// What is in flight and what was granted stay within a number of frames and of
/// bytes. Both are counted as the socket counts them: its last message may
/// overdraw the bytes, so a message larger than the window still passes. All that
/// `give` returns must be granted, whichever of the two it is.
///
/// # Rate
/// A token bucket that one second fills; what exceeds it waits at the host, and
/// nothing is dropped. A frame that is not what it claims costs
/// `limits::refused_frame_cost` events, because others pay for its check. It is
/// charged when it was checked, so the stream can owe, but no more than for one
/// second of such frames.
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
                    const upstream_options& options) noexcept;

  /// A new socket has no credit.
  void on_open() noexcept;

  /// The socket is gone, or given up.
  void on_closed() noexcept { open_ = false; }

  /// Whether NODE lets streams in.
  void on_room(bool is_there) noexcept { room_ = is_there; }

  /// The socket brought a message.
  void on_frame(size_t bytes) noexcept;

  /// So many frames were not what they claim.
  void on_refused(size_t frames, steady_time now) noexcept;

  /// What the socket gets now. To be called after every event that may end a
  /// wait.
  credit give(steady_time now);

  /// When `give` wants to be called although nothing happens.
  const std::optional<steady_time>& wake_at() const noexcept {
    return wake_at_;
  }

  /// The first reason for which the socket may be without credit.
  admission_wait waits_for(steady_time now) const noexcept;

  /// Whatever the host sent has come and is finished: a socket without credit is
  /// not read, so its silence says nothing.
  bool is_quiet() const noexcept {
    return open_ && room_ && flight_.size() == 0 && has_credit()
           && !stalled_since_;
  }

  /// The socket says whether it has credit. Called again and again.
  /// @returns whether it had none for `limits::credit_stall_max`, although it was
  /// given some or nothing is in the way: then only another socket helps
  bool on_look(bool is_read, steady_time now);

  /// That happened so often, each time not long after the last, that another
  /// socket alone does not mend it.
  bool keeps_stalling(steady_time now) const noexcept;

private:
  bool has_credit() const noexcept { return frames_ > 0 && bytes_ > 0; }

  /// Frames and bytes of the window that are not in flight.
  size_t frames_free() const noexcept;
  int64_t bytes_free() const noexcept;

  /// So many of `frames` may come by the rate. A tenth of a second's worth at
  /// least, or none: single ones would cost a wake-up each.
  size_t within_rate(size_t frames, steady_time now) const noexcept;

  const stream_flight& flight_;
  size_t frames_max_;
  int64_t bytes_max_;
  size_t per_second_; ///< 0: as many as come.
  size_t portion_;    ///< The least that the rate gives, if it wants as many.
  token_bucket bucket_;
  bool open_ = false;
  bool room_ = true;
  size_t frames_ = 0; ///< Credit that the socket holds.
  int64_t bytes_ = 0; ///< Below zero: its last message was larger.
  std::optional<steady_time> wake_at_;
  std::optional<steady_time> stalled_since_;
  size_t stalls_ = 0;      ///< Sockets given up because nobody read them.
  steady_time stalled_at_; ///< The last of them.
};

} // namespace weir::actors
