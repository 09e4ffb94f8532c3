#include "actors/upstream/stream_epoch.hpp"

#include <utility>

namespace weir::actors {

std::optional<uint64_t> stream_epoch::start_cursor() const {
  if (row_.cursor != 0)
    return row_.cursor;
  if (row_.first_cursor != 0)
    return row_.first_cursor - 1;
  if (row_.from_oldest)
    return 0;
  return std::nullopt;
}

void stream_epoch::begin() {
  ++row_.epoch;
  row_.reset_pending = true;
  row_.first_cursor = 0;
  writes_.hurry();
  list_wanted_ = true;
  begun_ = true; // By the connection that says so.
}

void stream_epoch::begin_from_oldest() {
  begin();
  begun_ = false;
  row_.from_oldest = true;
  row_.cursor = 0;
  row_.suspect = 0;
  row_.ends = 0;
}

void stream_epoch::begin_without_cursor() {
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

void stream_epoch::take(uint64_t seq) {
  if (!row_.reset_pending)
    return;
  row_.reset_pending = false;
  row_.from_oldest = false;
  row_.first_cursor = seq;
  writes_.begin_stamp();
}

} // namespace weir::actors
