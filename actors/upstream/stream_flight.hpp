#pragma once

#include "base/clock.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

namespace weir::actors {

/// The frames of a stream that are in the node and not finished, in the order
/// of their arrival. The low-water mark moves when the first is finished.
///
/// When the host starts its seqs anew, frames with old seqs stay at the front
/// and count, because they take memory until they are finished.
///
/// Part of an `upstream_machine`; one thread.
class stream_flight {
public:
  struct frame {
    uint32_t epoch = 0; ///< The epoch that it is stamped with.
    uint32_t bytes = 0;
    uint64_t seq = 0;
    bool done = false;
    wall_time changed; ///< When its event happened; 0: it does not say.
  };

  /// @param numbers_since The epoch in which the host started its seqs.
  explicit stream_flight(uint32_t numbers_since) noexcept
    : numbers_since_(numbers_since) {}

  void add(frame x) {
    bytes_ += x.bytes;
    frames_.push_back(x);
  }

  /// Frames that were stamped with `epoch` are finished.
  /// @returns false when the host has started its seqs anew since then.
  bool finish(uint32_t epoch, const std::vector<uint64_t>& seqs) {
    for (const auto seq : seqs) {
      const auto at = std::pair{epoch, seq};
      const auto i = std::lower_bound(frames_.begin(), frames_.end(), at,
                                      [](const frame& x, const auto& y) {
                                        return std::pair{x.epoch, x.seq} < y;
                                      });
      if (i == frames_.end() || std::pair{i->epoch, i->seq} != at)
        continue;
      i->done = true;
      if (i < current()) {
        take(i);
        --past_;
      }
    }
    return epoch >= numbers_since_;
  }

  /// The first frame with one of the host's present seqs, if it is finished.
  std::optional<frame> take_finished() {
    if (current() == frames_.end() || !current()->done)
      return std::nullopt;
    return take(current());
  }

  /// The host starts its seqs anew with `epoch`. Frames with old seqs stay in
  /// flight until they are finished.
  /// @param keep False: no frame is kept, since none was passed on.
  void restart(uint32_t epoch, bool keep) {
    const auto left
      = std::remove_if(current(), frames_.end(), [this, keep](const frame& x) {
          const auto goes = x.done || !keep;
          bytes_ -= goes ? x.bytes : 0;
          return goes;
        });
    frames_.erase(left, frames_.end());
    past_ = frames_.size();
    numbers_since_ = epoch;
  }

  /// Everything will be read again.
  void clear() {
    frames_.clear();
    past_ = 0;
    bytes_ = 0;
  }

  size_t size() const noexcept { return frames_.size(); }
  size_t bytes() const noexcept { return bytes_; }

  /// When there are more frames than `frames_max`, the oldest give way until
  /// there are no more; when there are too many bytes, the older half does.
  /// @returns the last seq that must give way; 0: none must.
  uint64_t surplus(size_t frames_max, size_t bytes_max) const noexcept {
    if (size() <= frames_max && bytes() <= bytes_max)
      return 0;
    const auto count = size() - past_;
    if (count == 0)
      return 1; // All have old seqs and give way, whichever seq is named.
    const auto first_to_stay = size() > frames_max
                                 ? std::min(size() - frames_max, count)
                                 : (count + 1) / 2;
    return frames_[past_ + first_to_stay - 1].seq;
  }

private:
  using place = std::deque<frame>::iterator;

  place current() noexcept {
    return frames_.begin() + static_cast<std::ptrdiff_t>(past_);
  }

  frame take(place x) {
    const auto out = *x;
    bytes_ -= out.bytes;
    frames_.erase(x);
    return out;
  }

  uint32_t numbers_since_;
  std::deque<frame> frames_; ///< In the order of epoch and seq.
  size_t past_ = 0; ///< Number of frames at the front that have old seqs.
  size_t bytes_ = 0;
};

} // namespace weir::actors
