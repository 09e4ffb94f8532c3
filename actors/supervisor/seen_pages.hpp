#pragma once

#include "actors/supervisor/limits_listings.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace weir::actors {

/// Whether a listing goes in circles, in constant memory. Of its last pages all
/// cursors and contents are known (`limits::listing_seen_max` of both), of
/// older ones one cursor, which a later one takes the place of at every power
/// of two: a circle of cursors is noticed however long it is.
class seen_pages {
public:
  /// @param hash Of a cursor.
  /// @returns whether it came before.
  bool repeats_cursor(uint64_t hash) {
    const auto marked = next_mark_ > 1 && hash == mark_;
    if (pages_++ == next_mark_) {
      mark_ = hash;
      next_mark_ *= 2;
    }
    return repeats(hash) || marked;
  }

  /// The same of any hash.
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
  uint64_t oldest_ = 0; ///< The place that is taken next.
  uint64_t mark_ = 0;
  uint64_t pages_ = 0;
  uint64_t next_mark_ = 1;
};

} // namespace weir::actors
