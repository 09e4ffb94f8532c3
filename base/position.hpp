#pragma once

#include <cstdint>

namespace weir {

/// A place in the event stream of one upstream. Numbers of different upstreams
/// or epochs cannot be compared (CONS-02, ADR 1), so there is no `operator<`;
/// use `reaches`.
struct position {
  uint32_t upstream = 0; ///< Upstream id; 0 = unset.
  uint32_t epoch = 0;    ///< Grows whenever that upstream's numbers start over.
  uint64_t seq = 0;

  friend bool operator==(const position&, const position&) = default;

  bool defined() const noexcept { return upstream != 0; }

  /// True when this position is at or after `other`: same upstream, and (epoch,
  /// seq) not lower. A position of another upstream never reaches it.
  bool reaches(const position& other) const noexcept {
    if (!defined() || upstream != other.upstream)
      return false;
    return epoch != other.epoch ? epoch > other.epoch : seq >= other.seq;
  }

  /// Like `reaches`, for two notes of the place since which a stream has no
  /// hole. Each epoch has one such place. A note with `seq` 0 was made before
  /// the first number of its epoch was known and stands for the beginning of
  /// the epoch; it covers the note that was completed later.
  bool covers(const position& since_reset) const noexcept {
    return reaches(since_reset)
           || (defined() && upstream == since_reset.upstream
               && epoch == since_reset.epoch && seq == 0);
  }
};

} // namespace weir
