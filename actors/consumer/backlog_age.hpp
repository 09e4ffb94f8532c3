#pragma once

#include "actors/consumer/delivery_machine.hpp"
#include "actors/consumer/limits.hpp"
#include "base/clock.hpp"

#include <cstdint>
#include <optional>
#include <utility>

namespace weir::actors {

/// Knows since when the oldest deliverable event waits, and when the log must
/// be read to find that out: for events that are not in memory, which is so
/// while no application is connected, and for the first event of a DID that is
/// read separately.
///
/// Whether an unread event may be delivered changes with its account, and a
/// CONSUMER without an application is not notified of that. So the event is
/// judged again every `limits::unread_look_interval`. One thread; no clock.
class backlog_age {
public:
  /// @param x The oldest event as far as it is known.
  /// @returns whether the log must be read for it; `on_read` then follows.
  bool see(const oldest_event& x, steady_time now) {
    look_at_.reset();
    if (x.id == 0 || x.written_us != 0) {
      oldest_ = x;
      return false;
    }
    const auto again = x.unread && x.id == oldest_.id;
    if (again && now < judged_ + limits::unread_look_interval)
      look_at_ = judged_ + limits::unread_look_interval;
    else if (again || x.id != oldest_.id)
      return !std::exchange(reading_, true);
    return false;
  }

  void on_read() noexcept { reading_ = false; }

  /// The part of the log that begins with the oldest event of `machine` was
  /// read. An unread event may turn out not to be deliverable; the next one
  /// that is counts then.
  void on_read(const unread_log& x, delivery_machine& machine,
               steady_time now) {
    on_read();
    const auto asked = machine.oldest_due();
    if (!x.entries)
      keep(x.id, now);
    else if (!asked.unread || asked.id != x.id)
      set({x.id, x.entries->empty() ? 0 : x.entries->front()->written_us}, now);
    else if (const auto due = machine.look_ahead(x.id, x.through, *x.entries);
             due.id != 0)
      set(due, now);
  }

  /// This event is the oldest.
  void set(const oldest_event& x, steady_time now) {
    oldest_ = x;
    judged_ = now;
  }

  /// The log could not be read for it: keeps the last known age.
  void keep(storage::op_id id, steady_time now) {
    set({id, oldest_.written_us}, now);
  }

  int64_t written_us() const noexcept { return oldest_.written_us; }

  /// The time at which `see` must be called again at the latest.
  std::optional<steady_time> look_at() const noexcept { return look_at_; }

private:
  oldest_event oldest_; ///< The result of the last judgement.
  steady_time judged_;
  bool reading_ = false;
  std::optional<steady_time> look_at_;
};

} // namespace weir::actors
