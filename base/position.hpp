#pragma once

#include <compare>
#include <cstdint>

namespace weir {

/// A place in the event stream of one upstream. Cursors of different upstreams
/// or epochs say nothing about each other (ADR 1, 5), so there
/// is no `operator<`: ask `reaches`.
struct position {
  uint32_t upstream = 0; ///< Upstream id; 0 = unset.
  uint32_t epoch = 0;    ///< Grows with every reset of that upstream's numbers.
  uint64_t seq = 0;

  friend bool operator==(const position&, const position&) = default;

  bool defined() const noexcept {
    return upstream != 0;
  }

  /// True when this position is at or behind which `other` lies: same
  /// upstream, and (epoch, seq) not lower. Another upstream never reaches.
  bool reaches(const position& other) const noexcept {
    if (!defined() || upstream != other.upstream)
      return false;
    return epoch != other.epoch ? epoch > other.epoch : seq >= other.seq;
  }

  /// `reaches`, when both are the places since which a stream is without a
  /// hole: an epoch has one, and `seq` 0 is its begin, when that was noted
  /// before the first number of the epoch was known.
  bool covers(const position& since_reset) const noexcept {
    return reaches(since_reset)
           || (defined() && upstream == since_reset.upstream
               && epoch == since_reset.epoch && seq == 0);
  }
};

} // namespace weir
