#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

namespace weir::actors {

/// Frames in flight whose numbers are no more, because those of their stream
/// began anew: nobody waits for them, but they take memory until the node has
/// done with them, so they count in the window of their stream.
///
/// Part of an `upstream_machine`; one thread.
class past_flight {
public:
  /// @param since The epoch in which its numbers began.
  void add(uint32_t since, uint64_t seq, size_t bytes) {
    if (by_epoch_[since].emplace(seq, bytes).second) {
      ++frames_;
      bytes_ += bytes;
    }
  }

  /// Frames that were stamped with `epoch` are finished.
  void done(uint32_t epoch, const std::vector<uint64_t>& seqs) {
    auto i = by_epoch_.upper_bound(epoch);
    if (i == by_epoch_.begin())
      return;
    auto& left = (--i)->second;
    for (const auto seq : seqs)
      if (const auto x = left.find(seq); x != left.end()) {
        --frames_;
        bytes_ -= x->second;
        left.erase(x);
      }
    if (left.empty())
      by_epoch_.erase(i);
  }

  void clear() {
    by_epoch_.clear();
    frames_ = 0;
    bytes_ = 0;
  }

  size_t frames() const noexcept { return frames_; }

  size_t bytes() const noexcept { return bytes_; }

private:
  /// Bytes of each number.
  std::map<uint32_t, std::unordered_map<uint64_t, size_t>> by_epoch_;
  size_t frames_ = 0;
  size_t bytes_ = 0;
};

} // namespace weir::actors
