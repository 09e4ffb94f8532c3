#pragma once

#include "base/clock.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

namespace weir::actors {

/// The frames of a stream that are in the node, in the order in which they came.
/// The low-water mark follows what is finished at the front.
///
/// When the numbers of the stream begin anew nobody waits for those that have
/// old ones, but they take memory until the node has done with them, so they
/// stay at the front and count until then.
///
/// Part of an `upstream_machine`; one thread.
class stream_flight {
public:
  struct frame {
    uint32_t epoch = 0; ///< It is stamped with that.
    uint32_t bytes = 0;
    uint64_t seq = 0;
    bool done = false;
    wall_time changed; ///< When what it tells happened; 0: it does not say.
  };

  /// @param numbers_since The epoch in which its numbers began.
  explicit stream_flight(uint32_t numbers_since) noexcept
    : numbers_since_(numbers_since) {}

  void add(frame x) {
    bytes_ += x.bytes;
    frames_.push_back(x);
  }

  /// Frames that were stamped with `epoch` are finished.
  /// @returns whether they are of the numbers that the stream has now.
  bool finish(uint32_t epoch, const std::vector<uint64_t>& seqs);

  /// The first frame of the numbers that the stream has, if it is finished.
  std::optional<frame> take_finished();

  /// The numbers of the stream begin anew with `epoch`. Whoever has frames of
  /// the old ones still has them.
  /// @param keep Else no more than one was handed out.
  void restart(uint32_t epoch, bool keep);

  /// Everything will be read again.
  void clear();

  size_t size() const noexcept { return frames_.size(); }
  size_t bytes() const noexcept { return bytes_; }

  /// Of more than so many frames or bytes, the oldest are too many. Which ones
  /// fill a window of bytes nobody counts: then it is the older half.
  /// @returns the last seq of those that are; 0: none are.
  uint64_t surplus(size_t frames_max, size_t bytes_max) const noexcept;

private:
  using place = std::deque<frame>::iterator;

  place current() noexcept {
    return frames_.begin() + static_cast<std::ptrdiff_t>(past_);
  }

  frame take(place x);

  uint32_t numbers_since_;
  std::deque<frame> frames_; ///< By epoch and number.
  size_t past_ = 0; ///< So many at the front have numbers that are no more.
  size_t bytes_ = 0;
};

} // namespace weir::actors
