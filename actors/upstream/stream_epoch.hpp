#pragma once

#include "actors/upstream/row_writes.hpp"

#include <optional>
#include <utility>

namespace weir::actors {

/// The epoch of a stream: the time without a hole (CONS-04, 05, 15, 16). Its
/// first number is its stamp (first_cursor_since_reset); a hole, or numbers
/// that start anew, begin another.
///
/// Part of an `upstream_machine`, like the row; one thread.
class stream_epoch {
public:
  stream_epoch(storage::upstream_row& row, row_writes& writes) noexcept
    : row_(row), writes_(writes), begun_(row.reset_pending) {}

  /// Where to ask from: the low-water mark exactly; before anything was done,
  /// just ahead of the first frame ever received; after a restart of the host's
  /// numbers, from its oldest; on first contact, from now (no value).
  std::optional<uint64_t> start_cursor() const {
    if (row_.cursor != 0)
      return row_.cursor;
    if (row_.first_cursor != 0)
      return row_.first_cursor - 1;
    if (row_.from_oldest)
      return 0;
    return std::nullopt;
  }

  /// Events may have been lost: the next number begins another epoch.
  void begin() {
    ++row_.epoch;
    row_.reset_pending = true;
    row_.first_cursor = 0;
    writes_.hurry();
    list_wanted_ = true;
    begun_ = true; // By the connection that says so.
  }

  /// The host's numbers start anew.
  void begin_from_oldest() {
    begin();
    begun_ = false;
    row_.from_oldest = true;
    row_.cursor = 0;
    row_.suspect = 0;
    row_.ends = 0;
  }

  /// A connection is open. Without a cursor, what happened before is lost.
  void begin_without_cursor() {
    if (row_.cursor != 0 || row_.first_cursor != 0)
      return;
    if (std::exchange(begun_, true)) {
      ++row_.epoch;
      list_wanted_ = true;
    }
    row_.reset_pending = true;
    if (writes_.durable_reset() != row_.epoch)
      writes_.hurry();
  }

  /// A frame with a new number came. #info has no cursor, so the first frame
  /// behind it supplies the stamp (CONS-15).
  void take(uint64_t seq) {
    if (!row_.reset_pending)
      return;
    row_.reset_pending = false;
    row_.from_oldest = false;
    row_.first_cursor = seq;
    writes_.begin_stamp();
  }

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
