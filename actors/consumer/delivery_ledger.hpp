#pragma once

#include "actors/consumer/acked_set.hpp"
#include "actors/consumer/delivery_types.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

namespace weir::actors {

/// Which events a consumer is done with, what of that is not written yet, and
/// when it is: acks at once, one write at a time; the rest may wait for
/// `lazy_write`.
class delivery_ledger {
public:
  using op_id = storage::op_id;

  /// @param options Outlive the ledger.
  delivery_ledger(const delivery_options& options, const delivery_state& state);

  // -- what is settled --------------------------------------------------------

  op_id position() const noexcept { return acked_.position(); }
  bool contains(op_id id) const noexcept { return acked_.contains(id); }
  op_id next_open(op_id from) const noexcept {
    return acked_.next_missing(from);
  }

  /// Nothing above this one is settled.
  op_id last() const noexcept { return acked_.last(); }
  size_t ranges() const noexcept { return acked_.ranges(); }

  /// Durable events that are not settled yet, due or not (docs/adr/0023).
  uint64_t backlog() const noexcept {
    return log_events_ > settled_ ? log_events_ - settled_ : 0;
  }

  /// Operations below `next` that are not settled.
  uint64_t open_before(op_id next) const noexcept {
    return next - 1 - acked_.count();
  }

  void note_log(uint64_t events) noexcept {
    log_events_ = std::max(log_events_, events);
  }

  // -- settling ---------------------------------------------------------------

  /// An event is done with. @returns false when it was before.
  bool close(op_id id);

  /// An operation that nobody is sent.
  void skip(op_id id, bool is_event);

  /// Ids that the log does not have.
  void skip_absent(op_id first, op_id last);

  /// An event is to be sent again.
  void reopen(op_id id);

  /// Everything up to the end of this entry was read, and what is open of it
  /// are events: counts anew how many are settled, whatever an application may
  /// have acked that was none. Only where nothing behind it was acked yet.
  /// @param next All below was read.
  void recount(const storage::log_entry& entry, op_id next);

  // -- dead letters -----------------------------------------------------------

  /// The event will not be delivered.
  void bury(dead_letter x);

  /// Its row goes with the next write.
  void forget(op_id letter);

  uint64_t dead_letters() const noexcept { return dead_letters_; }

  /// Those that are not on their way to the store yet.
  std::span<const dead_letter> letters() const noexcept { return letters_; }

  // -- writing ----------------------------------------------------------------

  /// There are acks to be written.
  void hurry() noexcept { urgent_ = true; }

  void save(steady_time now, delivery_effects& out);
  void note_durable() noexcept { in_flight_ = false; }

  /// When something is to be written that may wait.
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
  uint64_t settled_; ///< Of them.
  uint64_t dead_letters_;
  std::vector<dead_letter> letters_; ///< To be written.
  std::vector<op_id> letters_gone_;  ///< The same.
  bool urgent_ = false;
  bool in_flight_ = false;
  std::optional<steady_time> save_by_;
};

} // namespace weir::actors
