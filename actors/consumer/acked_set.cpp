#include "actors/consumer/acked_set.hpp"

#include <algorithm>
#include <iterator>

namespace weir::actors {

using storage::op_id;

acked_set::acked_set(op_id position,
                     const std::vector<storage::acked_range>& stored)
  : position_(position), count_(position) {
  for (const auto& x : stored)
    gone_.insert(x.first); // Until the range exists.
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

bool acked_set::add(op_id id) {
  if (contains(id))
    return false;
  add_range(id, id);
  return true;
}

void acked_set::add_range(op_id first, op_id last) {
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

bool acked_set::remove(op_id id) {
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

bool acked_set::contains(op_id id) const noexcept {
  if (id <= position_)
    return true;
  const auto i = ranges_.upper_bound(id);
  return i != ranges_.begin() && std::prev(i)->second.last >= id;
}

op_id acked_set::next_missing(op_id from) const noexcept {
  if (from <= position_)
    return position_ + 1; // No range touches the position.
  const auto i = ranges_.upper_bound(from);
  if (i != ranges_.begin() && std::prev(i)->second.last >= from)
    return std::prev(i)->second.last + 1;
  return from;
}

acked_set::delta acked_set::take_delta() {
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

acked_set::range_map::iterator acked_set::drop(range_map::iterator i) {
  if (i->second.stored)
    gone_.insert(i->first);
  dirty_.erase(i->first);
  return ranges_.erase(i);
}

void acked_set::touch(range_map::iterator i) {
  if (gone_.erase(i->first) != 0)
    i->second.stored = true;
  dirty_.insert(i->first);
}

} // namespace weir::actors
