#pragma once

#include "actors/consumer/delivery_lane.hpp"

namespace weir::actors {

/// The memory of a consumer: events that wait for their turn or for an ack, the
/// log entries kept for them, and the room reserved for pages on their way.
///
/// # Limits
/// `events_max` events; `bytes_max` of log entries, plus one entry.
class delivery_window {
public:
  /// @param options Must outlive the window, which outlives all that it holds.
  explicit delivery_window(const delivery_options& options) noexcept
    : options_(options) {}

  delivery_window(const delivery_window&) = delete;
  delivery_window& operator=(const delivery_window&) = delete;

  size_t events() const noexcept { return events_; }
  size_t bytes() const noexcept { return bytes_; }

  bool has_room(size_t events) const noexcept {
    return events_ + reserved_events_ + events <= options_.events_max;
  }

  /// An entry of any size fits when the window is empty.
  bool fits(size_t bytes) const noexcept {
    const auto used = bytes_ + reserved_bytes_;
    return used == 0 || used + bytes <= options_.bytes_max;
  }

  held_entry_ptr hold(storage::log_entry_ptr x) {
    return std::make_shared<const held_entry>(std::move(x), bytes_);
  }

  void add_event() noexcept { ++events_; }
  void remove_event() noexcept { --events_; }

  /// Reserves room for a page that is requested.
  void reserve(size_t events, size_t bytes) noexcept {
    reserved_events_ += events;
    reserved_bytes_ += bytes;
  }

  void end_reserve(size_t events, size_t bytes) noexcept {
    reserved_events_ -= events;
    reserved_bytes_ -= bytes;
  }

private:
  const delivery_options& options_;
  size_t events_ = 0;
  size_t bytes_ = 0;
  size_t reserved_events_ = 0;
  size_t reserved_bytes_ = 0;
};

} // namespace weir::actors
