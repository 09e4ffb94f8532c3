#pragma once

#include "actors/consumer/acked_set.hpp"
#include "actors/consumer/delivery_types.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

namespace weir::actors {

/// The events that a consumer has settled, what of that is not written yet, and
/// when it is written: acks at once, one write at a time; the rest may wait for
/// `lazy_write`.
class delivery_ledger {
public:
  using op_id = storage::op_id;

  /// @param options Must outlive the ledger.
  delivery_ledger(const delivery_options& options, const delivery_state& state);

  // -- what is settled --------------------------------------------------------

  op_id position() const noexcept { return acked_.position(); }
  bool contains(op_id id) const noexcept { return acked_.contains(id); }
  op_id next_open(op_id from) const noexcept {
    return acked_.next_missing(from);
  }

  /// No event above this one is settled.
  op_id last() const noexcept { return acked_.last(); }
  size_t ranges() const noexcept { return acked_.ranges(); }

  /// Durable events that are not settled yet, due or not (docs/adr/0023).
  uint64_t backlog() const noexcept {
    return log_events_ > settled_ ? log_events_ - settled_ : 0;
  }

  /// Number of operations below `next` that are not settled.
  uint64_t open_before(op_id next) const noexcept {
    return next - 1 - acked_.count();
  }

  void note_log(uint64_t events) noexcept {
    log_events_ = std::max(log_events_, events);
  }

  // -- settling ---------------------------------------------------------------

  /// Settles an event. @returns false when it was settled before.
  bool close(op_id id);

  /// Settles an operation that is not sent to anyone.
  void skip(op_id id, bool is_event);

  /// Settles ids that the log does not have.
  void skip_absent(op_id first, op_id last);

  /// An event must be sent again.
  void reopen(op_id id);

  /// Called when everything up to the end of this entry was read and its open
  /// operations are events: counts the settled events anew, because an
  /// application may have acked ids that are not events. Only allowed when
  /// nothing after it was acked yet.
  /// @param next Everything below was read.
  void recount(const storage::log_entry& entry, op_id next);

  // -- dead letters -----------------------------------------------------------

  /// The event will not be delivered.
  void bury(dead_letter x);

  /// Its row is removed with the next write.
  void forget(op_id letter);

  uint64_t dead_letters() const noexcept { return dead_letters_; }

  /// Letters that are in no write yet.
  std::span<const dead_letter> letters() const noexcept { return letters_; }

  // -- writing ----------------------------------------------------------------

  /// There are acks to write.
  void hurry() noexcept { urgent_ = true; }

  void save(steady_time now, delivery_effects& out);
  void note_durable() noexcept { in_flight_ = false; }

  /// When a write is due that may wait.
  std::optional<steady_time> due() const noexcept {
    return in_flight_ ? std::nullopt : save_by_;
  }

  delivery_counters& counters() noexcept { return counters_; }
  const delivery_counters& counters() const noexcept { return counters_; }

private:
  const delivery_options& options_;
  acked_set acked_;
  delivery_counters counters_;
  uint64_t log_events_;
  uint64_t settled_; ///< Of `log_events_`.
  uint64_t dead_letters_;
  std::vector<dead_letter> letters_; ///< To be written.
  std::vector<op_id> letters_gone_;  ///< To be removed with the next write.
  bool urgent_ = false;
  bool in_flight_ = false;
  std::optional<steady_time> save_by_;
};

} // namespace weir::actors
