#pragma once

#include "base/error.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weir::wire {

/// From the operation `first` on, ids of events are `ahead` higher than the
/// numbers of their operations.
struct id_epoch {
  uint64_t first = 1;
  uint64_t ahead = 0;

  bool operator==(const id_epoch&) const = default;
};

/// Ids of events, as applications see them, and the operations of the log they
/// stand for. A log that was never put back from a backup has one epoch, in
/// which they are the same; each time that it was (`weir adopt`) begins an
/// epoch whose ids no event had before (ADR 14).
///
/// # Threads
/// Never changes; any.
class event_numbers {
public:
  event_numbers() = default;

  /// @pre Both members grow from one to the next.
  explicit event_numbers(std::vector<id_epoch> begun);

  /// @pre `op > 0`
  /// @returns `ec::limit_reached` beyond 2^53 - 1, which JSON cannot carry.
  result<uint64_t> id_of(uint64_t op) const;

  /// The inverse; empty for a number that no operation can have.
  std::optional<uint64_t> op_of(uint64_t id) const;

  /// The first id of the epoch in force: what tells it from those before.
  uint64_t epoch() const;

  /// `0123456789abcdef.1`: identity and epoch of a log. An application that kept
  /// the text of another time and finds another one knows that the ids it
  /// remembers need not be of this log.
  std::string name_of(uint64_t log_identity) const;

private:
  std::vector<id_epoch> epochs_{{}};
};

} // namespace weir::wire
