#include "storage/log/tail_cache.hpp"

#include <algorithm>

namespace weir::storage {

tail_cache::tail_cache(op_id next, size_t bytes_max)
  : next_(next), bytes_max_(bytes_max) {}

void tail_cache::add(std::span<const log_entry_ptr> entries) {
  const std::lock_guard guard{mutex_};
  for (const auto& entry : entries) {
    if (entry->first != next_)
      forget();
    entries_.push_back(entry);
    held_ += entry->bytes_held();
    next_ = entry->last() + 1;
  }
  while (held_ > bytes_max_) {
    held_ -= entries_.front()->bytes_held();
    entries_.pop_front();
  }
}

std::optional<std::vector<log_entry_ptr>>
tail_cache::since(op_id after, op_id through, size_t ops_max,
                  size_t bytes_max) const {
  std::vector<log_entry_ptr> out;
  const std::lock_guard guard{mutex_};
  if (after + 1 >= next_)
    return out;
  if (entries_.empty() || entries_.front()->first > after + 1)
    return std::nullopt;
  const auto ends_before = [](const log_entry_ptr& entry, op_id id) {
    return entry->last() < id;
  };
  auto i = std::lower_bound(entries_.begin(), entries_.end(), after + 1,
                            ends_before);
  size_t ops = 0;
  size_t size = 0;
  for (; i != entries_.end() && (*i)->last() <= through; ++i) {
    ops += (*i)->ops.size();
    size += (*i)->bytes_held();
    if (!out.empty() && (ops > ops_max || size > bytes_max))
      break;
    out.push_back(*i);
  }
  return out;
}

void tail_cache::forget_before(op_id id) {
  const std::lock_guard guard{mutex_};
  while (!entries_.empty() && entries_.front()->first < id) {
    held_ -= entries_.front()->bytes_held();
    entries_.pop_front();
  }
}

void tail_cache::clear() {
  const std::lock_guard guard{mutex_};
  forget();
}

void tail_cache::forget() {
  entries_.clear();
  entries_.shrink_to_fit();
  held_ = 0;
}

size_t tail_cache::bytes_held() const {
  const std::lock_guard guard{mutex_};
  return held_;
}

} // namespace weir::storage
