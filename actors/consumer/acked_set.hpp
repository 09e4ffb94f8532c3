#pragma once

#include "storage/format/records.hpp"

#include <iterator>
#include <map>
#include <set>
#include <vector>

namespace weir::actors {

/// Which operations a consumer is done with: all at or below a position, and
/// sparse ranges above it. Remembers what it changed, so that the rows on disk
/// can follow in small steps.
///
/// # Limits
/// Adding to one end of a range costs no memory. The owner bounds the number
/// of ranges (`ranges`).
class acked_set {
public:
  using op_id = storage::op_id;

  /// What to write. Erase first, then put: an erased row may come again.
  struct delta {
    op_id position = 0;
    std::vector<op_id> erase; ///< First ids of rows that are no more.
    std::vector<storage::acked_range> put;
  };

  acked_set() = default;

  /// As stored, in any order; ranges may touch, overlap or lie below.
  acked_set(op_id position, const std::vector<storage::acked_range>& stored);

  /// False when it was there.
  bool add(op_id id);

  /// Both ends included.
  void add_range(op_id first, op_id last);

  /// Takes one out again; the position goes back where it has to. False when it
  /// was not there.
  bool remove(op_id id);

  bool contains(op_id id) const noexcept;

  /// Lowest id from `from` on that is not in the set.
  op_id next_missing(op_id from) const noexcept;

  op_id position() const noexcept { return position_; }

  /// The highest id in the set; 0: it is empty.
  op_id last() const noexcept {
    return ranges_.empty() ? position_ : std::prev(ranges_.end())->second.last;
  }

  /// How many ids are in the set.
  uint64_t count() const noexcept { return count_; }

  /// Ranges above the position.
  size_t ranges() const noexcept { return ranges_.size(); }

  bool changed() const noexcept { return changed_; }

  /// What changed since the last call. The caller makes it durable before the
  /// next one, or gives up.
  delta take_delta();

private:
  struct range {
    op_id last = 0;
    bool stored = false; ///< A row with this first id is on disk.
  };

  using range_map = std::map<op_id, range>;

  range_map::iterator drop(range_map::iterator i);
  void touch(range_map::iterator i);

  op_id position_ = 0;
  uint64_t count_ = 0;
  range_map ranges_; ///< By first id; neither touching nor overlapping.
  bool changed_ = false;
  std::set<op_id> dirty_; ///< Ranges whose row is not as they are.
  std::set<op_id> gone_;  ///< Rows without a range.
};

} // namespace weir::actors
