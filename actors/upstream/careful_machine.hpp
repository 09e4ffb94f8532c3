#pragma once

#include "atproto/stamped_frame.hpp"
#include "base/clock.hpp"
#include "storage/format/records.hpp"

#include <cstddef>
#include <deque>
#include <optional>

namespace weir::actors {

/// The rule for frames whose handling ends the process (docs/hostile-inputs.md
/// 2.1.34).
///
/// # Operation
/// The row of a stream says durably that its life has begun, and that it is
/// settled once its cursor moved or it ends in order. A start that finds a life
/// that is not settled goes on carefully: frames are handled one at a time, and
/// which one is durable first. So the row that a dead process leaves names the
/// frame that it died with, and counts how often. After
/// `limits::poison_frame_ends_max` ends with one frame it is stepped over: its
/// repo hears that there was one, and nobody looks at its content. A careful
/// life that got past the frame which the one before died with is settled, too:
/// it was not that frame. When as many frames as can have been in flight are
/// through, or `limits::careful_time_max` has passed (some may wait for an
/// identity), all is as usual again, at no cost a frame.
///
/// A frame is looked at by `peek_frame` before it counts: what has no seq
/// cannot be counted.
///
/// # Threads and ownership
/// Part of an `upstream_machine`.
class careful_machine {
public:
  /// What the start of a process makes of a row; durable before the stream is
  /// read.
  static void begin_life(storage::upstream_row& row);

  /// The cursor moved: should this life not end in order, the next one is as
  /// usual.
  static void note_progress(storage::upstream_row& row);

  /// What its end in order makes of it.
  static void end_life(storage::upstream_row& row);

  /// @param on Whether the row says `stream_life::careful`.
  explicit careful_machine(bool on) : on_(on) {}

  bool on() const noexcept { return on_; }

  /// A frame that has to wait for its turn; in order of their seqs.
  void hold(atproto::stamped_frame x) { held_.push_back(std::move(x)); }

  /// Gives the next frame its turn, when none has it: writes it into `row`.
  /// @returns whether `row` changed: make it durable, then call `release`
  bool next(storage::upstream_row& row);

  /// A row with this suspect is durable.
  /// @returns the frame, to be handled now; of kind `unknown` and without
  /// content when it is to be stepped over
  std::optional<atproto::stamped_frame>
  release(uint64_t suspect, const storage::upstream_row& row);

  /// A frame is finished. Returns whether `row` changed.
  bool on_done(uint64_t seq, storage::upstream_row& row);

  /// Whether the careful stretch is over; its time begins with its first frame.
  bool is_over(steady_time now);

  /// Ends it. @returns all frames that had no turn
  std::deque<atproto::stamped_frame> end(storage::upstream_row& row);

  /// What is held and in hand will come again.
  void forget();

private:
  bool on_ = false;
  std::deque<atproto::stamped_frame> held_;
  uint64_t in_hand_ = 0;  ///< Seq of the frame whose turn it is; 0: none.
  bool released_ = false; ///< It is being handled.
  size_t passed_ = 0;
  std::optional<steady_time> began_;
};

} // namespace weir::actors
