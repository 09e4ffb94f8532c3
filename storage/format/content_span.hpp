#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace weir::storage {

/// Number of an operation in its partition: from 1, without gaps, in commit
/// order.
using op_id = uint64_t;

/// A closed range of content numbers.
struct content_span {
  op_id first = 0;
  op_id last = 0;

  friend bool operator==(const content_span&, const content_span&) = default;
};

/// Adds a span to a list of spans that are sorted and do not touch each other,
/// and keeps it so. When there would be more than `max`, the two that are
/// closest are joined.
void add_span(std::vector<content_span>& to, content_span x, size_t max);

/// True when the spans are sorted and do not touch each other.
bool are_apart(const std::vector<content_span>& all) noexcept;

} // namespace weir::storage
