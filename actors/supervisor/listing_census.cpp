#include "actors/supervisor/listing_census.hpp"

#include <algorithm>

namespace weir::actors {

void listing_census::add(uint64_t did_hash) {
  if (!watches(did_hash))
    return;
  if (seen_.size() >= most_)
    compact();
  if (watches(did_hash))
    seen_.push_back(did_hash);
}

/// A DID may stand on two pages, so duplicates go first. If there are still too
/// many, half of the DIDs must go.
void listing_census::compact() {
  std::sort(seen_.begin(), seen_.end());
  seen_.erase(std::unique(seen_.begin(), seen_.end()), seen_.end());
  while (seen_.size() >= most_) {
    mask_ = mask_ * 2 + 1;
    std::erase_if(seen_, [this](uint64_t x) { return !watches(x); });
  }
}

void listing_census::close() {
  std::sort(seen_.begin(), seen_.end());
}

bool listing_census::left_out(uint64_t did_hash) const {
  return watches(did_hash)
         && !std::binary_search(seen_.begin(), seen_.end(), did_hash);
}

bool should_be_listed(const storage::repo_row& row, int64_t since,
                      wall_time now) {
  const auto comes = row.account == storage::account_status::active
                     && !row.last_indexed_rev.defined();
  // A time ahead of now was written while the clock was wrong.
  const auto fetched_since = row.last_sync >= since
                             && row.last_sync <= now.seconds();
  return !comes && row.account != storage::account_status::deleted
         && !fetched_since && !row.pds.empty();
}

} // namespace weir::actors
