#include "actors/upstream/stream_flight.hpp"

#include <algorithm>
#include <utility>

namespace weir::actors {

bool stream_flight::finish(uint32_t epoch, const std::vector<uint64_t>& seqs) {
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

std::optional<stream_flight::frame> stream_flight::take_finished() {
  if (current() == frames_.end() || !current()->done)
    return std::nullopt;
  return take(current());
}

stream_flight::frame stream_flight::take(place x) {
  const auto out = *x;
  bytes_ -= out.bytes;
  frames_.erase(x);
  return out;
}

void stream_flight::restart(uint32_t epoch, bool keep) {
  const auto left = std::remove_if(current(), frames_.end(),
                                   [this, keep](const frame& x) {
                                     const auto goes = x.done || !keep;
                                     bytes_ -= goes ? x.bytes : 0;
                                     return goes;
                                   });
  frames_.erase(left, frames_.end());
  past_ = frames_.size();
  numbers_since_ = epoch;
}

void stream_flight::clear() {
  frames_.clear();
  past_ = 0;
  bytes_ = 0;
}

uint64_t stream_flight::surplus(size_t frames_max,
                                size_t bytes_max) const noexcept {
  if (size() <= frames_max && bytes() <= bytes_max)
    return 0;
  const auto count = size() - past_;
  if (count == 0)
    return 1; // All are of old numbers, and give way whatever they are.
  const auto first_to_stay = size() > frames_max
                               ? std::min(size() - frames_max, count)
                               : (count + 1) / 2;
  return frames_[past_ + first_to_stay - 1].seq;
}

} // namespace weir::actors
