#include "actors/api/operation_merge.hpp"

#include <algorithm>
#include <iterator>

namespace weir::actors {

void operation_merge::add(const wire::event_numbers& numbers,
                          storage::op_id after, bool more) {
  lanes_.push_back({&numbers, after, more, {}});
}

result<std::optional<operation_merge::merged>> operation_merge::next() {
  using nothing = std::optional<merged>;
  if (given_ == bounds_.ops_max)
    return nothing{};
  const auto from = first_lane();
  if (!from)
    return from.error();
  if (!*from)
    return nothing{};
  auto& chosen = lanes_[**from];
  auto& first = chosen.waiting.front();
  bytes_ += first.body.size();
  if (bytes_ > bounds_.bytes_max && given_ > 0)
    return nothing{};
  const auto id = chosen.numbers->id_of(first.id);
  if (!id)
    return id.error();
  ++given_;
  merged out{*id, std::move(first)};
  chosen.waiting.pop_front();
  return std::optional{std::move(out)};
}

/// The partition that has the operation with the smallest id. Nothing when it
/// is not known which one that is, or there is none.
result<std::optional<uint16_t>> operation_merge::first_lane() {
  std::optional<uint16_t> out;
  uint64_t smallest = 0;
  for (uint16_t i = 0; i < lanes_.size(); ++i) {
    const auto known = fill(i);
    if (!known)
      return known.error();
    if (!*known)
      return std::optional<uint16_t>{};
    const auto& each = lanes_[i];
    if (each.waiting.empty())
      continue;
    const auto id = each.numbers->id_of(each.waiting.front().id);
    if (!id)
      return id.error();
    if (!out || *id < smallest) {
      out = i;
      smallest = *id;
    }
  }
  return out;
}

/// Reads the partition until one of its operations waits, or it has no more.
/// Returns false when it may not be read any further.
result<bool> operation_merge::fill(uint16_t partition) {
  auto& from = lanes_[partition];
  while (from.waiting.empty() && from.more) {
    if (looked_ >= bounds_.looked_max)
      return false;
    storage::read_bounds within;
    within.ops_max = (bounds_.ops_max - given_) / lanes_.size() + 1;
    within.bytes_max = bounds_.bytes_max / lanes_.size() + 1;
    within.looked_max = bounds_.looked_max - looked_;
    auto page = read_(partition, from.through, within);
    if (!page)
      return page.error();
    looked_ += page->through - from.through;
    from.through = page->through;
    from.more = page->more;
    std::ranges::move(page->found, std::back_inserter(from.waiting));
  }
  return true;
}

std::vector<uint64_t> operation_merge::places() const {
  std::vector<uint64_t> out;
  for (const auto& each : lanes_)
    out.push_back(each.waiting.empty() ? each.through
                                       : each.waiting.front().id - 1);
  return out;
}

bool operation_merge::more() const noexcept {
  return std::ranges::any_of(lanes_, [](const lane& x) {
    return x.more || !x.waiting.empty();
  });
}

} // namespace weir::actors
