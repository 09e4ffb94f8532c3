#pragma once

#include "storage/format/records.hpp"

#include <iterator>
#include <map>
#include <set>
#include <vector>

namespace weir::actors {

/// The operations that a consumer has settled: all up to a position, and sparse
/// ranges above it. The set remembers its changes, so that the rows on disk can
/// follow in small steps.
///
/// # Limits
/// Adding to one end of a range costs no memory. The owner bounds the number
/// of ranges (`ranges`).
class acked_set {
public:
  using op_id = storage::op_id;

  /// What to write. Erase first, then put: an erased row may be put again.
  struct delta {
    op_id position = 0;
    std::vector<op_id> erase; ///< First ids of rows that no longer exist.
    std::vector<storage::acked_range> put;
  };

  acked_set() = default;

  /// As stored, in any order; ranges may touch, overlap or lie below the
  /// position.
  acked_set(op_id position, const std::vector<storage::acked_range>& stored);

  /// Returns false when the id was in the set.
  bool add(op_id id);

  /// Both ends included.
  void add_range(op_id first, op_id last);

  /// Removes an id; the position goes back if necessary. Returns false when the
  /// id was not in the set.
  bool remove(op_id id);

  bool contains(op_id id) const noexcept;

  /// The lowest id from `from` on that is not in the set.
  op_id next_missing(op_id from) const noexcept;

  op_id position() const noexcept { return position_; }

  /// The highest id in the set; 0 when it is empty.
  op_id last() const noexcept {
    return ranges_.empty() ? position_ : std::prev(ranges_.end())->second.last;
  }

  /// Number of ids in the set.
  uint64_t count() const noexcept { return count_; }

  /// Number of ranges above the position.
  size_t ranges() const noexcept { return ranges_.size(); }

  bool changed() const noexcept { return changed_; }

  /// The changes since the last call. The caller makes them durable before the
  /// next call, or gives up.
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
  std::set<op_id> dirty_; ///< Ranges that differ from their rows.
  std::set<op_id> gone_;  ///< Rows without a range.
};

} // namespace weir::actors
