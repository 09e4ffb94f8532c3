#pragma once

#include "actors/upstream/limits.hpp"
#include "base/clock.hpp"
#include "storage/format/records.hpp"

#include <optional>
#include <utility>

namespace weir::actors {

/// Decides when the row of a stream is written, one write at a time, and knows
/// what is durable. A changed position waits `limits::cursor_write_interval`,
/// a new stamp does not: it is durable before a frame with it is passed on.
///
/// Part of an `upstream_machine`; one thread.
class row_writes {
public:
  void start(steady_time now) noexcept { last_ = now; }

  /// The row has changed.
  void touch() noexcept { dirty_ = true; }

  /// The row has changed and is written without waiting for the timer.
  void hurry() noexcept { dirty_ = urgent_ = true; }

  /// The row has a new stamp (`stream_epoch`), which no write in flight has.
  void begin_stamp() noexcept {
    hurry();
    stamp_waits_ = true;
    has_stamp_ = false;
  }

  /// The row of a new stamp is not durable yet.
  bool stamp_waits() const noexcept { return stamp_waits_; }

  /// Writes what must not wait; or, with `all`, whatever has changed.
  void write(const storage::upstream_row& row, steady_time now, bool all,
             std::optional<storage::upstream_row>& out) {
    if ((!urgent_ && !all) || !dirty_ || in_flight_)
      return;
    dirty_ = urgent_ = false;
    in_flight_ = true;
    last_ = now;
    has_stamp_ = stamp_waits_;
    suspect_ = row.suspect;
    reset_ = row.reset_pending ? row.epoch : 0;
    out = row;
  }

  /// Writes what must not wait, and everything once the interval is over.
  void write_in_time(const storage::upstream_row& row, steady_time now,
                     std::optional<storage::upstream_row>& out) {
    write(row, now, now - last_ >= limits::cursor_write_interval, out);
  }

  /// The write is durable. @returns whether that makes a new stamp durable.
  bool end() noexcept {
    in_flight_ = false;
    durable_reset_ = reset_;
    if (!std::exchange(has_stamp_, false))
      return false;
    stamp_waits_ = false;
    return true;
  }

  /// The suspected frame (`careful_machine`) of the row that was written last.
  uint64_t suspect() const noexcept { return suspect_; }

  /// The epoch of the durable row, if its first number was not known; else 0.
  uint32_t durable_reset() const noexcept { return durable_reset_; }

private:
  bool dirty_ = false;
  bool urgent_ = false;
  bool in_flight_ = false;
  bool has_stamp_ = false; ///< The write in flight has the new stamp.
  bool stamp_waits_ = false;
  uint32_t reset_ = 0; ///< `durable_reset_` once the write in flight is done.
  uint32_t durable_reset_ = 0;
  uint64_t suspect_ = 0;
  steady_time last_; ///< When the last write began.
};

} // namespace weir::actors
