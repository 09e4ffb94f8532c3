#pragma once

#include "actors/consumer/delivery_types.hpp"
#include "actors/consumer/limits.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace weir::actors {

/// The events that a consumer has settled, what of that is not written yet, and
/// when it is written, one write at a time: dead letters at once, acks after
/// `limits::acks_write_wait`, the rest after `limits::consumer_lazy_write`.
class delivery_ledger {
public:
  explicit delivery_ledger(const delivery_state& state)
    : acked_(state.position, state.acked), log_events_(state.log_events),
      settled_(state.settled), dead_letters_(state.dead_letters) {}

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
  bool close(op_id id) {
    if (!acked_.add(id))
      return false;
    ++settled_;
    return true;
  }

  /// Settles an operation that is not sent to anyone.
  void skip(op_id id, bool is_event) {
    settled_ += is_event ? 1 : 0;
    acked_.add(id);
  }

  /// Settles ids that the log does not have.
  void skip_absent(op_id first, op_id last) { acked_.add_range(first, last); }

  /// An event must be sent again.
  void reopen(op_id id) {
    acked_.remove(id);
    --settled_;
  }

  /// Called when everything up to the end of this entry was read and its open
  /// operations are events: counts the settled events anew, because an
  /// application may have acked ids that are not events. Only allowed when
  /// nothing after it was acked yet.
  /// @param next Everything below was read.
  void recount(const storage::log_entry& entry, op_id next) {
    if (acked_.last() >= next)
      return;
    const auto own = std::ranges::count_if(entry.ops, [](const auto& op) {
      return storage::is_event_scope(op.scope);
    });
    const auto events = entry.events_before + static_cast<uint64_t>(own);
    const auto open = open_before(next);
    settled_ = events > open ? events - open : 0;
  }

  // -- dead letters -----------------------------------------------------------

  /// The event will not be delivered.
  void bury(dead_letter x) {
    ++dead_letters_;
    close(x.id);
    letters_.push_back(std::move(x));
    write_within({});
  }

  /// Its row is removed with the next write.
  void forget(op_id letter) {
    letters_gone_.push_back(letter);
    --dead_letters_;
    write_within({});
  }

  uint64_t dead_letters() const noexcept { return dead_letters_; }

  /// Letters that are in no write yet.
  std::span<const dead_letter> letters() const noexcept { return letters_; }

  // -- writing ----------------------------------------------------------------

  /// What is not written yet waits no longer than this after its first change.
  void write_within(std::chrono::microseconds wait) noexcept {
    wait_ = std::min(wait_, wait);
  }

  void save(steady_time now, delivery_effects& out) {
    if (!acked_.changed() && letters_gone_.empty())
      return;
    if (!changed_at_)
      changed_at_ = now;
    if (in_flight_ || now < *changed_at_ + wait_)
      return;
    out.rows = delivery_effects::write{
      acked_.take_delta(), std::exchange(letters_gone_, {}),
      std::exchange(letters_, {}), settled_, dead_letters_};
    wait_ = limits::consumer_lazy_write;
    changed_at_.reset();
    in_flight_ = true;
  }

  void note_durable() noexcept { in_flight_ = false; }

  /// @returns when a write is due that may wait.
  std::optional<steady_time> due() const noexcept {
    if (in_flight_ || !changed_at_)
      return std::nullopt;
    return *changed_at_ + wait_;
  }

  delivery_counters& counters() noexcept { return counters_; }
  const delivery_counters& counters() const noexcept { return counters_; }

private:
  acked_set acked_;
  delivery_counters counters_;
  uint64_t log_events_;
  uint64_t settled_; ///< How many of `log_events_` are settled.
  uint64_t dead_letters_;
  std::vector<dead_letter> letters_; ///< These are to be written.
  std::vector<op_id> letters_gone_;  ///< The next write removes these.
  bool in_flight_ = false;
  std::optional<steady_time> changed_at_; ///< None: all is written.
  std::chrono::microseconds wait_ = limits::consumer_lazy_write;
};

} // namespace weir::actors
