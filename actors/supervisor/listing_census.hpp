#pragma once

#include "base/clock.hpp"
#include "storage/format/records.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace weir::actors {

/// Whom a listing named, so that those it leaves out can be found.
///
/// Keeps hashes of DIDs, at most `most`: when there are more it halves the
/// part of all DIDs that it watches, and says nothing of the others. The next
/// listing, with another `turn`, watches another part.
class listing_census {
public:
  listing_census(size_t most, uint64_t turn) : most_(most), turn_(turn) {
    // nop
  }

  void add(uint64_t did_hash);

  /// The listing is complete: before `left_out`.
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

/// Whether a listing should have named this repo: one that is fetched for the
/// first time, or was fetched since the listing began, is known better.
/// @param since When the listing began, in Unix seconds.
bool should_be_listed(const storage::repo_row& row, int64_t since,
                      wall_time now);

} // namespace weir::actors
