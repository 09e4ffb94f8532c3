#include "actors/upstream/stream_flight.hpp"

#include <algorithm>

namespace weir::actors {

bool stream_flight::finish(uint32_t epoch, const std::vector<uint64_t>& seqs) {
  if (epoch < numbers_since_) {
    past_.done(epoch, seqs);
    return false;
  }
  for (const auto seq : seqs) {
    const auto i = std::lower_bound(frames_.begin(), frames_.end(), seq,
                                    [](const frame& x, uint64_t y) {
                                      return x.seq < y;
                                    });
    if (i != frames_.end() && i->seq == seq)
      i->done = true;
  }
  return true;
}

std::optional<stream_flight::frame> stream_flight::take_finished() {
  if (frames_.empty() || !frames_.front().done)
    return std::nullopt;
  const auto out = frames_.front();
  bytes_ -= out.bytes;
  frames_.pop_front();
  return out;
}

void stream_flight::restart(uint32_t epoch, bool keep) {
  for (const auto& x : frames_)
    if (keep && !x.done)
      past_.add(numbers_since_, x.seq, x.bytes);
  numbers_since_ = epoch;
  frames_.clear();
  bytes_ = 0;
}

void stream_flight::clear() {
  frames_.clear();
  bytes_ = 0;
  past_.clear();
}

uint64_t stream_flight::surplus(size_t frames_max,
                                size_t bytes_max) const noexcept {
  if (size() <= frames_max && bytes() <= bytes_max)
    return 0;
  if (frames_.empty())
    return 1; // All are of old numbers, and give way whatever they are.
  const auto first_to_stay = size() > frames_max
                               ? std::min(size() - frames_max, frames_.size())
                               : (frames_.size() + 1) / 2;
  return frames_[first_to_stay - 1].seq;
}

} // namespace weir::actors
