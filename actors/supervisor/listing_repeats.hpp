#pragma once

#include "actors/supervisor/limits.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
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

/// Detects that a listing names the same repos over and over, in whatever order
/// and page size, in constant memory: `limits::listing_names_max` hashes of
/// DIDs. When there are more, the class halves the part of all DIDs that it
/// watches, and judges the listing by that part.
///
/// A host lists each repo once, and a few of them twice when they change their
/// place meanwhile. Therefore a listing has to end when it named repos again
/// more than `limits::listing_again_max` times more often than it named repos
/// for the first time. A listing of any length may go on as long as it brings
/// new names.
class seen_names {
public:
  /// @param salt Random, so that nobody can choose DIDs that are not watched.
  explicit seen_names(uint64_t salt = 0) : factor_(salt | 1) {}

  /// Adds a line of the page that came last.
  /// @param did_hash A hash whose bits are all uniformly random.
  void add(uint64_t did_hash) {
    has_page_ = true;
    if (!watches(did_hash))
      return;
    const auto at = std::lower_bound(names_.begin(), names_.end(), did_hash);
    if (at != names_.end() && *at == did_hash) {
      page_again_ += uint64_t{1} << level_;
      return;
    }
    names_.insert(at, did_hash);
    while (names_.size() > limits::listing_names_max) {
      ++level_;
      std::erase_if(names_, [this](uint64_t x) { return !watches(x); });
    }
  }

  /// The whole page was taken: its lines count, unless the page came before
  /// and was not taken: then its own first reading made its names known.
  void keep_page() {
    if (!std::exchange(repeats_, false))
      again_ += page_again_;
    page_again_ = 0;
    has_page_ = false;
  }

  /// The page has to be requested once more, which is not the host's fault.
  void drop_page() {
    repeats_ |= std::exchange(has_page_, false);
    page_again_ = 0;
  }

  bool goes_round() const noexcept {
    return again_ > (uint64_t{names_.size()} << level_)
                      + limits::listing_again_max;
  }

  size_t size() const noexcept { return names_.size(); }

private:
  /// Multiplies by a secret odd number: a DID is watched when the upper
  /// `level_` bits of the product are zero.
  bool watches(uint64_t did_hash) const noexcept {
    return level_ == 0 || (did_hash * factor_) >> (64 - level_) == 0;
  }

  uint64_t factor_;
  unsigned level_ = 0;
  std::vector<uint64_t> names_; ///< Sorted.
  uint64_t again_ = 0;
  uint64_t page_again_ = 0;
  bool has_page_ = false;
  bool repeats_ = false; ///< The page that came last was not taken.
};

} // namespace weir::actors
