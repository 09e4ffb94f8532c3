#pragma once

#include "actors/upstream/limits.hpp"
#include "atproto/stamped_frame.hpp"
#include "base/clock.hpp"
#include "storage/format/records.hpp"

#include <cstddef>
#include <deque>
#include <optional>
#include <utility>

namespace weir::actors {

/// Frames whose handling ends the process (docs/hostile-inputs.md 2.1.34).
///
/// # Operation
/// The row of a stream says that its life has begun, and that it is settled
/// once its cursor moved or it ends in order. After a life that is not settled,
/// frames are handled one at a time, and the row names each of them before it
/// is handled. So after a crash the row names the frame that was being handled,
/// and counts how often that happened. After `limits::poison_frame_ends_max`
/// crashes the frame is skipped: its repo is fetched, and its content is not
/// read. A life that gets past the suspected frame is settled, too. All frames
/// are handled as usual again when as many are finished as can be in flight, or
/// after `limits::careful_time_max`, since some may wait for an identity.
///
/// A crash in `peek_frame` is not counted, because the seq is not known before.
///
/// # Threads and ownership
/// Part of an `upstream_machine`.
class careful_machine {
public:
  /// The row at the start of a process; durable before the stream is read.
  static void begin_life(storage::upstream_row& row) {
    if (row.life == storage::stream_life::settled) {
      row.life = storage::stream_life::running;
      clear_suspect(row);
      return;
    }
    row.life = storage::stream_life::careful;
    if (row.suspect > row.cursor)
      ++row.ends;
    else
      clear_suspect(row);
  }

  /// The cursor moved: the next life is as usual, however this one ends.
  static void note_progress(storage::upstream_row& row) {
    if (row.life == storage::stream_life::running)
      row.life = storage::stream_life::settled;
  }

  /// The row when the process stops in order.
  static void end_life(storage::upstream_row& row) {
    row.life = storage::stream_life::settled;
    clear_suspect(row);
  }

  /// @param on Whether the row says `stream_life::careful`.
  explicit careful_machine(bool on) : on_(on) {}

  bool on() const noexcept { return on_; }

  /// Adds a frame that waits for its turn. Call it in the order of seqs.
  void hold(atproto::stamped_frame x) { held_.push_back(std::move(x)); }

  /// Gives the next frame its turn, when none has it: writes it into `row`.
  /// @returns whether `row` changed: make it durable, then call `release`
  bool next(storage::upstream_row& row) {
    if (in_hand_ != 0 || held_.empty())
      return false;
    in_hand_ = held_.front().at.seq;
    if (row.suspect != in_hand_)
      row.ends = 0;
    row.suspect = in_hand_;
    return true;
  }

  /// A row with this suspect is durable.
  /// @returns the frame, to be handled now; of kind `unknown` and without
  /// content when it is to be stepped over
  std::optional<atproto::stamped_frame>
  release(uint64_t suspect, const storage::upstream_row& row) {
    if (in_hand_ == 0 || released_ || suspect != in_hand_)
      return std::nullopt;
    released_ = true;
    ++passed_;
    auto out = std::move(held_.front());
    held_.pop_front();
    if (row.ends >= limits::poison_frame_ends_max) {
      out.kind = atproto::frame_kind::unknown;
      out.bytes = {};
    }
    return out;
  }

  /// A frame is finished. Returns whether `row` changed.
  bool on_done(uint64_t seq, storage::upstream_row& row) {
    if (!released_ || seq != in_hand_)
      return false;
    in_hand_ = 0;
    released_ = false;
    if (row.ends > 0)
      row.life = storage::stream_life::settled;
    clear_suspect(row);
    return true;
  }

  /// Whether the careful stretch is over; its time begins with its first frame.
  bool is_over(steady_time now) {
    if (!began_ && (in_hand_ != 0 || !held_.empty()))
      began_ = now;
    return on_
           && ((in_hand_ == 0 && passed_ >= limits::upstream_frames_max)
               || (began_ && now - *began_ >= limits::careful_time_max));
  }

  /// Ends it. @returns all frames that had no turn
  std::deque<atproto::stamped_frame> end(storage::upstream_row& row) {
    on_ = false;
    if (row.life == storage::stream_life::careful)
      row.life = storage::stream_life::running;
    clear_suspect(row);
    in_hand_ = 0;
    released_ = false;
    return std::exchange(held_, {});
  }

  /// Drops what waits and what is being handled: it will come again.
  void forget() {
    held_.clear();
    in_hand_ = 0;
    released_ = false;
  }

private:
  static void clear_suspect(storage::upstream_row& row) {
    row.suspect = 0;
    row.ends = 0;
  }

  bool on_ = false;
  std::deque<atproto::stamped_frame> held_;
  uint64_t in_hand_ = 0;  ///< Seq of the frame whose turn it is; 0: none.
  bool released_ = false; ///< It is being handled.
  size_t passed_ = 0;
  std::optional<steady_time> began_;
};

} // namespace weir::actors
