#pragma once

#include "storage/format/records.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <vector>

namespace weir::actors {

using storage::op_id;

/// The operations that a consumer has settled: all up to a position, and sparse
/// ranges above it. The set remembers its changes, so that the rows on disk can
/// follow in small steps.
///
/// # Limits
/// Adding to one end of a range costs no memory. The owner bounds the number
/// of ranges (`ranges`).
class acked_set {
public:
  /// What to write. Erase first, then put: an erased row may be put again.
  struct delta {
    op_id position = 0;
    std::vector<op_id> erase; ///< First ids of rows that no longer exist.
    std::vector<storage::acked_range> put;
  };

  acked_set() = default;

  /// @param stored The ranges in any order; they may touch, overlap or lie
  /// below the position.
  acked_set(op_id position, const std::vector<storage::acked_range>& stored)
    : position_(position), count_(position) {
    for (const auto& x : stored)
      gone_.insert(x.first); // It stays there until the range exists.
    for (const auto& x : stored)
      add_range(x.first, x.last);
    // Rows that match the set need no write.
    for (const auto& x : stored) {
      const auto i = ranges_.find(x.first);
      if (i != ranges_.end() && i->second.last == x.last)
        dirty_.erase(x.first);
    }
    changed_ = position_ != position || !gone_.empty() || !dirty_.empty();
  }

  /// Returns false when the id was in the set.
  bool add(op_id id) {
    if (contains(id))
      return false;
    add_range(id, id);
    return true;
  }

  /// Both ends included.
  void add_range(op_id first, op_id last) {
    first = std::max(first, position_ + 1);
    if (first > last)
      return;
    if (first == position_ + 1
        && (ranges_.empty() || ranges_.begin()->first > last + 1)) {
      changed_ = true;
      count_ += last - position_;
      position_ = last;
      return;
    }
    auto i = ranges_.upper_bound(first);
    if (i != ranges_.begin() && std::prev(i)->second.last + 1 >= first)
      --i;
    else
      i = ranges_.emplace_hint(i, first, range{first - 1, false});
    if (i->second.last >= last)
      return;
    changed_ = true;
    count_ += last - i->second.last;
    i->second.last = last;
    for (auto next = std::next(i);
         next != ranges_.end() && next->first <= i->second.last + 1;) {
      const auto end = next->second.last;
      count_ -= std::min(end, i->second.last) - next->first + 1;
      i->second.last = std::max(end, i->second.last);
      next = drop(next);
    }
    if (i->first == position_ + 1) {
      position_ = i->second.last;
      drop(i);
    } else {
      touch(i);
    }
  }

  /// Removes an id; the position goes back if necessary. Returns false when the
  /// id was not in the set.
  bool remove(op_id id) {
    if (id == 0 || !contains(id))
      return false;
    changed_ = true;
    --count_;
    auto last = position_;
    if (id <= position_) {
      position_ = id - 1;
    } else {
      const auto i = std::prev(ranges_.upper_bound(id));
      last = i->second.last;
      if (i->first == id) {
        drop(i);
      } else {
        i->second.last = id - 1;
        touch(i);
      }
    }
    if (id < last)
      touch(ranges_.emplace(id + 1, range{last, false}).first);
    return true;
  }

  bool contains(op_id id) const noexcept {
    if (id <= position_)
      return true;
    const auto i = ranges_.upper_bound(id);
    return i != ranges_.begin() && std::prev(i)->second.last >= id;
  }

  /// The lowest id from `from` on that is not in the set.
  op_id next_missing(op_id from) const noexcept {
    if (from <= position_)
      return position_ + 1; // No range touches the position.
    const auto i = ranges_.upper_bound(from);
    if (i != ranges_.begin() && std::prev(i)->second.last >= from)
      return std::prev(i)->second.last + 1;
    return from;
  }

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
  delta take_delta() {
    delta out;
    out.position = position_;
    out.erase.assign(gone_.begin(), gone_.end());
    gone_.clear();
    for (const auto first : dirty_) {
      auto& x = ranges_.at(first);
      x.stored = true;
      out.put.push_back({first, x.last});
    }
    dirty_.clear();
    changed_ = false;
    return out;
  }

private:
  struct range {
    op_id last = 0;
    bool stored = false; ///< A row with this first id is on disk.
  };

  using range_map = std::map<op_id, range>;

  range_map::iterator drop(range_map::iterator i) {
    if (i->second.stored)
      gone_.insert(i->first);
    dirty_.erase(i->first);
    return ranges_.erase(i);
  }

  void touch(range_map::iterator i) {
    if (gone_.erase(i->first) != 0)
      i->second.stored = true;
    dirty_.insert(i->first);
  }

  op_id position_ = 0;
  uint64_t count_ = 0;
  range_map ranges_; ///< Keys: first ids. No two ranges touch.
  bool changed_ = false;
  std::set<op_id> dirty_; ///< Ranges that differ from their rows.
  std::set<op_id> gone_;  ///< Rows without a range.
};

} // namespace weir::actors
