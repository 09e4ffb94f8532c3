#pragma once

#include "actors/upstream/limits.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace weir::actors {

/// The numbers of a stream's frames (protocol-coverage.md 1.8 to 1.10): which
/// are new, known, or not allowed.
///
/// Part of an `upstream_machine`; one thread.
class stream_numbers {
public:
  /// How a seq relates to those before it.
  struct place {
    bool fell = false; ///< It is below an earlier seq of the connection.
    bool late = false; ///< It fell, and its frame was not received before.
    bool gap = false;  ///< It is the first of a connection, after a gap.
    bool asked = true; ///< It is above the cursor of the connection.
    bool fresh = true; ///< It is above all seqs that were received.
  };

  explicit stream_numbers(uint64_t last_received) noexcept
    : last_received_(last_received) {}

  /// @param cursor The cursor of the connection; 0: none.
  void dial(uint64_t cursor) noexcept { dialled_at_ = cursor; }

  void on_open() noexcept {
    last_on_connection_ = 0;
    falls_ = unasked_ = skipped_here_ = 0;
    skips_max_ = std::min(limits::bad_frames_skipped_min + skipped_,
                          limits::bad_frames_skipped_max);
  }

  place take(uint64_t seq) {
    place out;
    if (last_on_connection_ != 0 && seq <= last_on_connection_) {
      ++falls_;
      out.fell = true;
      out.late = std::ranges::find(recent_, seq) == recent_.end();
      if (out.late)
        remember(seq);
      return out;
    }
    out.gap = last_on_connection_ == 0 && seq > last_received_ + 1;
    last_on_connection_ = seq;
    remember(seq);
    out.asked = seq > dialled_at_;
    unasked_ += out.asked ? 0 : 1;
    out.fresh = seq > last_received_;
    return out;
  }

  bool fall_too_often() const noexcept {
    return falls_ >= limits::seq_regressions_max;
  }

  /// A host may begin at the cursor or a little before it. When it stays below,
  /// it has started its seqs anew, and none of its frames would ever be new.
  bool are_others() const noexcept {
    return unasked_ >= limits::seq_regressions_max;
  }

  /// A malformed frame came after the last seq. The next connections request it
  /// again, until it came `limits::bad_frame_tries_max` times.
  /// @returns whether it is now skipped; otherwise the connection ends.
  bool note_bad_frame() noexcept {
    bad_tries_ = bad_behind_ == last_received_ ? bad_tries_ + 1 : 1;
    bad_behind_ = last_received_;
    if (bad_tries_ < limits::bad_frame_tries_max)
      return false;
    ++skipped_;
    return ++skipped_here_ <= skips_max_;
  }

  /// Bad frames that were skipped since the last one that could be read.
  size_t bad_in_a_row() const noexcept { return skipped_; }

  void receive(uint64_t seq) noexcept {
    last_received_ = seq;
    skipped_ = 0;
  }

  /// The highest seq of this epoch, on any connection.
  uint64_t last_received() const noexcept { return last_received_; }

  /// The host starts its seqs anew.
  void restart() noexcept {
    last_received_ = 0;
    recent_.fill(0);
  }

private:
  void remember(uint64_t seq) noexcept {
    recent_[next_] = seq;
    next_ = (next_ + 1) % recent_.size();
  }

  uint64_t last_received_;
  uint64_t last_on_connection_ = 0; ///< 0: nothing came yet.
  /// The last seqs, which distinguish a frame that comes twice from one that
  /// comes late (protocol-coverage.md 1.8). 0: an entry that is still free.
  std::array<uint64_t, limits::recent_numbers_max> recent_{};
  size_t next_ = 0; ///< Index of the next entry of `recent_`.
  uint64_t dialled_at_ = 0;
  size_t unasked_ = 0; ///< Counted anew for each connection.
  size_t falls_ = 0;   ///< Counted anew for each connection.
  uint64_t bad_behind_ = 0;
  size_t bad_tries_ = 0;
  size_t skipped_ = 0;
  size_t skipped_here_ = 0; ///< Counted anew for each connection.
  size_t skips_max_ = limits::bad_frames_skipped_min; ///< The connection's own.
};

} // namespace weir::actors
