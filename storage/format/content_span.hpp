#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace weir::storage {

/// Number of an operation in its partition: gapless from 1, in commit order.
using op_id = uint64_t;

/// Numbers of content that lie next to each other.
struct content_span {
  op_id first = 0;
  op_id last = 0;

  friend bool operator==(const content_span&, const content_span&) = default;
};

/// Adds a span to some that are in order and apart from each other, and stay
/// so. Of more than `max` the two that are closest become one.
void add_span(std::vector<content_span>& to, content_span x, size_t max);

/// True when they are in order and apart from each other.
bool are_apart(const std::vector<content_span>& all) noexcept;

} // namespace weir::storage
