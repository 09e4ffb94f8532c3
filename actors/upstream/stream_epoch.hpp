#pragma once

#include "actors/upstream/row_writes.hpp"

#include <optional>
#include <utility>

namespace weir::actors {

/// The epoch of a stream: a time in which no event was missed (CONS-04, 05, 15,
/// 16). Its stamp is its first seq, since which the stream has no gap
/// (docs/completeness.md, The terms). A hole or a restart of seqs ends it.
///
/// Part of an `upstream_machine`, like the row; one thread.
class stream_epoch {
public:
  stream_epoch(storage::upstream_row& row, row_writes& writes) noexcept
    : row_(row), writes_(writes), begun_(row.reset_pending) {}

  /// The cursor for the next connection: the low-water mark. While nothing is
  /// finished it is the seq before the first frame that was received; after the
  /// host started its seqs anew, its oldest event; on first contact there is
  /// none, which asks for new events.
  std::optional<uint64_t> start_cursor() const {
    if (row_.cursor != 0)
      return row_.cursor;
    if (row_.first_cursor != 0)
      return row_.first_cursor - 1;
    if (row_.from_oldest)
      return 0;
    return std::nullopt;
  }

  /// Events may have been lost: the next seq begins another epoch.
  void begin() {
    ++row_.epoch;
    row_.reset_pending = true;
    row_.first_cursor = 0;
    writes_.hurry();
    list_wanted_ = true;
    begun_ = true; // The connection that showed the loss is open.
  }

  /// The host starts its seqs anew.
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

  /// A frame with a new seq came. #info has no cursor, so the first frame after
  /// it supplies the stamp (CONS-15).
  void take(uint64_t seq) {
    if (!row_.reset_pending)
      return;
    row_.reset_pending = false;
    row_.from_oldest = false;
    row_.first_cursor = seq;
    writes_.begin_stamp();
  }

  /// Whether no event of the epoch came yet and none was missed. The caller
  /// knows that the connection with which it began is open; its row is durable.
  bool is_whole() const noexcept {
    return row_.first_cursor == 0 && begun_
           && writes_.durable_reset() == row_.epoch;
  }

  /// True once for each epoch, at a durable position: a listing must be
  /// compared.
  bool take_listing() noexcept { return std::exchange(list_wanted_, false); }

  /// Whether it has a stamp that is durable.
  bool is_stamped() const noexcept {
    return row_.first_cursor != 0 && !writes_.stamp_waits();
  }

private:
  storage::upstream_row& row_;
  row_writes& writes_;
  bool begun_;              ///< A connection of this epoch was open.
  bool list_wanted_ = true; ///< No listing was requested at this stamp yet.
};

} // namespace weir::actors
