#pragma once

#include "actors/support/limits.hpp"
#include "actors/upstream/limits.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace weir::actors {

/// The last `limits::recent_numbers_max` numbers of a stream, to tell a frame
/// that comes twice from one that comes too late (protocol-coverage.md 1.8).
class recent_numbers {
public:
  void add(uint64_t seq) {
    if (seqs_.size() < limits::recent_numbers_max)
      seqs_.push_back(seq);
    else
      seqs_[next_] = seq;
    next_ = (next_ + 1) % limits::recent_numbers_max;
  }

  bool contains(uint64_t seq) const {
    return std::find(seqs_.begin(), seqs_.end(), seq) != seqs_.end();
  }

  /// Numbers start anew.
  void clear() {
    seqs_.clear();
    next_ = 0;
  }

private:
  std::vector<uint64_t> seqs_;
  size_t next_ = 0; ///< Where the next one is written.
};

/// The numbers of a stream's frames (protocol-coverage.md 1.8 to 1.10): which
/// are new, known, or not allowed.
///
/// Part of an `upstream_machine`; one thread.
class stream_numbers {
public:
  /// How a number stands to those before it.
  struct place {
    bool fell = false; ///< Below one of the same connection.
    bool late = false; ///< The same, and it was not here before.
    bool gap = false;  ///< The first one of a connection, beyond the next one.
    bool asked = true; ///< Behind the cursor that was asked from.
    bool fresh = true; ///< Above all that were received.
  };

  explicit stream_numbers(uint64_t last_received) noexcept
    : last_received_(last_received) {}

  /// @param cursor That is asked from; 0: none.
  void dial(uint64_t cursor) noexcept { dialled_at_ = cursor; }

  void on_open() noexcept {
    last_on_connection_ = 0;
    falls_ = unasked_ = 0;
  }

  place take(uint64_t seq) {
    place out;
    if (last_on_connection_ != 0 && seq <= last_on_connection_) {
      ++falls_;
      out.fell = true;
      out.late = !recent_.contains(seq);
      if (out.late)
        recent_.add(seq);
      return out;
    }
    out.gap = last_on_connection_ == 0 && seq > last_received_ + 1;
    last_on_connection_ = seq;
    recent_.add(seq);
    out.asked = seq > dialled_at_;
    unasked_ += out.asked ? 0 : 1;
    out.fresh = seq > last_received_;
    return out;
  }

  bool fall_too_often() const noexcept {
    return falls_ >= limits::seq_regressions_max;
  }

  /// A host may begin with the cursor or a little before. One that goes on so
  /// has other numbers than we know: nothing that it sends would ever be new.
  bool are_others() const noexcept {
    return unasked_ >= limits::seq_regressions_max;
  }

  /// A bad frame came behind the last number. It comes again on the next
  /// connection, as often as it takes to know that it always does.
  /// @returns whether it is stepped over.
  bool note_bad_frame() noexcept {
    bad_tries_ = bad_behind_ == last_received_ ? bad_tries_ + 1 : 1;
    bad_behind_ = last_received_;
    return bad_tries_ >= limits::bad_frame_tries_max;
  }

  void receive(uint64_t seq) noexcept { last_received_ = seq; }

  /// The highest one of this epoch, on whatever connection.
  uint64_t last_received() const noexcept { return last_received_; }

  /// They start anew.
  void restart() noexcept {
    last_received_ = 0;
    recent_.clear();
  }

private:
  uint64_t last_received_;
  uint64_t last_on_connection_ = 0; ///< 0: nothing came yet.
  recent_numbers recent_;
  uint64_t dialled_at_ = 0;
  size_t unasked_ = 0; ///< Of this connection.
  size_t falls_ = 0;   ///< The same.
  uint64_t bad_behind_ = 0;
  size_t bad_tries_ = 0;
};

} // namespace weir::actors
