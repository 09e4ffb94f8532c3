#pragma once

#include "actors/upstream/row_writes.hpp"

#include <optional>

namespace weir::actors {

/// The epoch of a stream: how long it has been followed without a hole
/// (CONS-04, CONS-05, CONS-15, CONS-16). The number of its first frame is its
/// stamp (first_cursor_since_reset); a hole, or numbers that start anew, begin
/// another.
///
/// Part of an `upstream_machine`, like the row; one thread.
class stream_epoch {
public:
  stream_epoch(storage::upstream_row& row, row_writes& writes) noexcept
    : row_(row), writes_(writes), begun_(row.reset_pending) {}

  /// Where to ask from: the low-water mark exactly; before anything was done,
  /// just ahead of the first frame ever received; after a restart of the host's
  /// numbers, from its oldest; on first contact, from now (no value).
  std::optional<uint64_t> start_cursor() const;

  /// Events may have been lost: the next frame with a number begins another
  /// one.
  void begin();

  /// The host's numbers start anew.
  void begin_from_oldest();

  /// A connection is open. Where the host cannot be asked for what follows on
  /// something, whatever happened before it was open is lost.
  void begin_without_cursor();

  /// A frame with a new number came. #info has no cursor, so the first frame
  /// behind it supplies the stamp (CONS-15).
  void take(uint64_t seq);

  /// No event of it came yet, and none was missed: the connection that began it
  /// is open, as the caller knows, and the row says so on disk.
  bool is_whole() const noexcept {
    return row_.first_cursor == 0 && begun_
           && writes_.durable_reset() == row_.epoch;
  }

  /// Once for each epoch: a listing is to be compared, at a durable position.
  bool take_listing() noexcept { return std::exchange(list_wanted_, false); }

  /// It has a stamp, which is durable.
  bool is_stamped() const noexcept {
    return row_.first_cursor != 0 && !writes_.stamp_waits();
  }

private:
  storage::upstream_row& row_;
  row_writes& writes_;
  bool begun_;              ///< A connection of this epoch was open.
  bool list_wanted_ = true; ///< Until a listing was compared at the stamp.
};

} // namespace weir::actors
