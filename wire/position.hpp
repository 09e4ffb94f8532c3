#pragma once

#include "base/error.hpp"

#include <cstdint>
#include <optional>

/// Numbers of events and positions in the log, as applications see them
/// (storage-format.md 4).
namespace weir::wire {

/// One operation in a log that has several partitions.
struct event_place {
  uint16_t partition = 0;
  uint64_t op = 0; ///< Counted from 1 in its partition.

  bool operator==(const event_place&) const = default;
};

/// The one integer that identifies an event outside of the node: `(op - 1) *
/// partitions + partition + 1`.
/// @pre `place.op > 0`, `place.partition < partitions`
/// @returns `ec::limit_reached` beyond 2^53 - 1, which JSON cannot carry.
result<uint64_t> event_id(event_place place, uint16_t partitions);

/// The inverse; empty for a number that belongs to no event.
std::optional<event_place> place_of(uint64_t event, uint16_t partitions);

} // namespace weir::wire
