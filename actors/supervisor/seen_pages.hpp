#pragma once

#include "actors/supervisor/limits.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace weir::actors {

/// Detects that a listing goes in circles, in constant memory. Of the last
/// pages all cursors and contents are remembered (`limits::listing_seen_max`
/// hashes in all). Of older pages one cursor is remembered, which is replaced
/// whenever the number of pages reaches a power of two: so a circle of cursors
/// is noticed however long it is.
class seen_pages {
public:
  /// @param hash The hash of a cursor.
  /// @returns whether it came before.
  bool repeats_cursor(uint64_t hash) {
    const auto marked = next_mark_ > 1 && hash == mark_;
    if (pages_++ == next_mark_) {
      mark_ = hash;
      next_mark_ *= 2;
    }
    return repeats(hash) || marked;
  }

  /// The same for any hash.
  bool repeats(uint64_t hash) {
    if (std::find(last_.begin(), last_.end(), hash) != last_.end())
      return true;
    if (last_.size() < limits::listing_seen_max)
      last_.push_back(hash);
    else
      last_[oldest_++ % limits::listing_seen_max] = hash;
    return false;
  }

  size_t size() const noexcept { return last_.size(); }

private:
  std::vector<uint64_t> last_;
  /// Counts replacements: the place that is overwritten next.
  uint64_t oldest_ = 0;
  uint64_t mark_ = 0;
  uint64_t pages_ = 0;
  uint64_t next_mark_ = 1;
};

} // namespace weir::actors
