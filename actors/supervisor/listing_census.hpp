#pragma once

#include "base/clock.hpp"
#include "storage/format/records.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace weir::actors {

/// Records which repos a listing named, so that the repos that it left out can
/// be found.
///
/// Keeps hashes of DIDs, at most `most`. When there are more, the census halves
/// the part of all DIDs that it watches, and makes no statement about the
/// others. The next listing, with another `turn`, watches another part.
class listing_census {
public:
  listing_census(size_t most, uint64_t turn) : most_(most), turn_(turn) {}

  void add(uint64_t did_hash);

  /// The listing is complete. Call this before `left_out`.
  void close();

  /// @pre `close` was called
  bool left_out(uint64_t did_hash) const;

  size_t size() const noexcept { return seen_.size(); }

private:
  bool watches(uint64_t did_hash) const noexcept {
    return ((did_hash ^ turn_) & mask_) == 0;
  }

  void compact();

  size_t most_;
  uint64_t turn_;
  uint64_t mask_ = 0;
  std::vector<uint64_t> seen_;
};

/// Whether a listing should have named this repo. A repo that is being fetched
/// for the first time, or was fetched since the listing began, is known better
/// from the fetch.
/// @param since When the listing began, in Unix seconds.
bool should_be_listed(const storage::repo_row& row, int64_t since,
                      wall_time now);

} // namespace weir::actors
