#pragma once

#include "base/error.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Numbers and places of the log as others see them (storage-format.md 4).
namespace weir::wire {

/// One operation of a log with several partitions.
struct event_place {
  uint16_t partition = 0;
  uint64_t op = 0; ///< Counted from 1 in its partition.

  bool operator==(const event_place&) const = default;
};

/// The one integer by which foreign wires know an event:
/// `(op - 1) * partitions + partition + 1`.
/// @pre `place.op > 0`, `place.partition < partitions`
/// @returns `ec::limit_reached` beyond 2^53 - 1, which JSON cannot carry.
result<uint64_t> event_id(event_place place, uint16_t partitions);

/// The inverse; empty for a number that is no event's.
std::optional<event_place> place_of(uint64_t event, uint16_t partitions);

/// How far a reader of this log is: in each partition, everything at or below
/// the operation is behind it.
struct log_position {
  uint64_t log_identity = 0; ///< Of the log; a rebuilt one has another.
  std::vector<uint64_t> ops; ///< One for each partition.

  bool operator==(const log_position&) const = default;
};

/// Opaque text, safe in URLs: what applications keep and hand back.
/// @pre at most `limits::partitions_max` partitions
std::string to_text(const log_position& x);

/// `ec::invalid_argument` when the text is no position, `ec::chain_broken` when
/// it is one of another log (HTTP 409): the sentence says what to do.
result<log_position> parse_position(std::string_view text,
                                    uint64_t log_identity, uint16_t partitions);

} // namespace weir::wire
