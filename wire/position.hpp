#pragma once

#include "base/error.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

/// How far a reader of this log is. In each partition it has read everything up
/// to and including the operation given here.
struct log_position {
  /// Identity of the log; a rebuilt log has another.
  uint64_t log_identity = 0;
  std::vector<uint64_t> ops; ///< The last operation read, for each partition.

  bool operator==(const log_position&) const = default;
};

/// An opaque text, safe in URLs, that applications keep and send back.
/// @pre at most `limits::partitions_max` partitions
std::string to_text(const log_position& x);

/// Reads the text of a position. `ec::invalid_argument` when it is none,
/// `ec::chain_broken` (HTTP 409) when it belongs to another log; the message
/// says what to do.
result<log_position> parse_position(std::string_view text,
                                    uint64_t log_identity, uint16_t partitions);

} // namespace weir::wire
