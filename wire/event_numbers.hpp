#pragma once

#include "base/error.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weir::wire {

/// From operation `first` on, events are numbered as their operations, plus
/// `ahead`.
struct id_epoch {
  uint64_t first = 1;
  uint64_t ahead = 0;

  bool operator==(const id_epoch&) const = default;
};

/// Translates between ids of events, which applications see, and numbers of
/// operations in the log of one partition. With one partition they are equal
/// until a store is restored from a backup. After a restore, `weir adopt`
/// begins a new epoch, in which ids are higher than any id that was given out
/// before (ADR 14). Several partitions take turns (`event_id`), so that no id
/// is given out twice.
///
/// # Threads
/// Immutable, so any thread may use it.
class event_numbers {
public:
  event_numbers() = default;

  /// @pre `first` and `ahead` grow from each epoch to the next.
  /// @param partition Whose log it is; less than `partitions`.
  explicit event_numbers(std::vector<id_epoch> begun, uint16_t partition = 0,
                         uint16_t partitions = 1);

  /// @pre `op > 0`
  /// @returns `ec::limit_reached` beyond 2^53 - 1, which JSON cannot carry.
  result<uint64_t> id_of(uint64_t op) const;

  /// The inverse of `id_of`; empty for an id that no operation of this
  /// partition can have.
  std::optional<uint64_t> op_of(uint64_t id) const;

  /// The last operation whose id is at most `id`, or 0.
  uint64_t last_op_until(uint64_t id) const noexcept;

  /// The first id of the current epoch. It identifies the epoch.
  uint64_t epoch() const;

  /// Name of the log and its epoch, such as `0123456789abcdef.1`. An
  /// application can store it with the ids it remembers. When it later finds
  /// another name, those ids may stand for other events.
  std::string name_of(uint64_t log_identity) const;

private:
  using epoch_ref = std::vector<id_epoch>::const_iterator;

  /// The epoch after the one in which events have this number.
  epoch_ref after_number(uint64_t number) const noexcept;

  std::vector<id_epoch> epochs_{{}};
  uint16_t partition_ = 0;
  uint16_t partitions_ = 1;
};

} // namespace weir::wire
