#pragma once

#include "actors/upstream/limits.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace weir::actors {

/// The numbers of the frames that a stream brought last, to tell one that comes
/// twice from one that comes too late (protocol-coverage.md 1.8), which is
/// missing. Holds `limits::recent_numbers_max`. No clock, threads or I/O in
/// here.
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

} // namespace weir::actors
