#pragma once

#include "actors/consumer/log_feed.hpp"

#include <span>
#include <utility>

namespace weir::actors {

/// The rules of one consumer on one partition of the log (api.md, Acks;
/// architecture.md I5, I8), without CAF, clock, disk or socket.
///
/// Feed it events and carry out the `delivery_effects`. The same events give
/// the same effects. Its parts own what is settled (`delivery_ledger`), the
/// room in memory (`delivery_window`), the connections (`delivery_sessions`),
/// the events of each DID (`delivery_lanes`), what waits for an account
/// (`account_holds`), and what is read of the log (`log_feed`). This class
/// decides what is sent, and what follows from acks, from missing acks, and
/// from dead letters.
///
/// # Order
/// Within a DID, a live event and a fact about the account are barriers: they
/// wait for all earlier events of the DID, and later ones wait for them until
/// they are acked. Historical events of one fetch, which contains each record
/// once, may be in flight together, but never across a barrier or with those of
/// another fetch. Example: with history H1, H2 and a live event L1, H1 and H2
/// may be sent together, and L1 only after both are acked. DIDs do not wait for
/// each other.
///
/// # Parking
/// A DID that does not ack leaves the window after `retry_timeout`, and the log
/// goes on without it. Its first event is tried again, alone, with growing
/// delays. After `attempts_max` tries, unless that is 0, it becomes a dead
/// letter and the next one follows. Events that were passed are read again for
/// this DID alone, until it has caught up with the log. A DID that merely has
/// too many events at once is treated the same way, without delay.
///
/// # Accounts
/// No record of an inactive account is sent; its facts overtake its records.
/// The records wait until a fact says that the account is active again, also
/// when an earlier life of the process sent the fact that made it inactive.
/// What was erased is settled without being sent.
///
/// # Dead letters
/// A dead letter that is to be delivered again becomes an open event of its
/// DID. Before that, the caller checks whether a later event makes it outdated;
/// nothing of the DID is sent meanwhile, so that the result is still true when
/// it arrives.
///
/// # Durability
/// Only acks (and operations that need none) settle an event. Position and
/// ranges are the whole state: everything else is read and sent again after a
/// restart.
///
/// # Limits
/// `events_max` events, of which `did_events_max` of one DID; `bytes_max` of
/// log entries in memory, plus one entry; `parked_max` DIDs and events
/// remembered for late acks, plus or minus one window; `ranges_max` sparse
/// ranges, above which passed events become dead letters.
class delivery_machine {
public:
  using effects = delivery_effects;

  /// @param accounts Must outlive the machine.
  delivery_machine(delivery_options options, const delivery_state& state,
                   const account_board& accounts)
    : options_(std::move(options)), accounts_(accounts),
      believed_through_(state.ran_before ? state.durable : 0), ledger_(state),
      window_(options_),
      holds_(options_, accounts, lanes_, ledger_, ledger_.last()),
      feed_(options_, accounts, ledger_, window_, lanes_, holds_, sessions_,
            state.durable) {}

  delivery_machine(const delivery_machine&) = delete;
  delivery_machine& operator=(const delivery_machine&) = delete;

  effects on_session_up(session_id id, steady_time now);
  effects on_session_down(session_id id, steady_time now);

  /// The log is durable up to `durable` and has `log_events` events up to
  /// there.
  effects on_log(op_id durable, uint64_t log_events, steady_time now) {
    ledger_.note_log(log_events);
    feed_.note_log(durable);
    return pump(now);
  }

  effects on_page(std::vector<storage::log_entry_ptr> entries,
                  steady_time now) {
    feed_.take_page(std::move(entries));
    return pump(now);
  }

  effects on_did_page(const did_page& page, steady_time now) {
    return feed_.take_did_page(page, now) ? pump(now) : effects{};
  }

  /// One report for each session in the `sends` of the last effects.
  effects on_sent(std::span<const sent_report> reports, steady_time now);

  /// Whether no event waits for the ack of another one, because the whole log
  /// is in flight or settled.
  bool acks_may_wait() const noexcept {
    return feed_.is_at_end() && window_.events() == sessions_.in_flight();
  }

  /// Acks may be late, repeated, out of order, or from an earlier connection.
  effects on_acks(session_id from, std::span<const op_id> ids, steady_time now);

  /// Nothing of these DIDs is sent until `on_letters`.
  void watch(std::vector<atproto::did> repos) {
    lanes_.watch(std::move(repos));
  }

  /// Decides about dead letters whose rows are durable. The decision is durable
  /// once a write with `letters_gone` is.
  effects on_letters(std::span<const letter_wish> wishes, steady_time now,
                     letters_report& out);

  effects on_durable_rows(steady_time now) {
    ledger_.note_durable();
    return pump(now);
  }

  effects on_timer(steady_time now);

  /// The last call: writes what is settled and in no write yet. The store takes
  /// writes in order, so this one does not wait for the one before it.
  effects on_stop(steady_time now);

  // -- state ------------------------------------------------------------------

  op_id position() const noexcept { return ledger_.position(); }

  /// Durable events that are not settled yet, due or not (docs/adr/0023).
  uint64_t backlog() const noexcept { return ledger_.backlog(); }

  /// Records of inactive accounts are left out.
  oldest_event oldest_due() const noexcept { return feed_.oldest_due(); }

  /// Judges the part of the log from an unread `oldest_due` up to `through`.
  /// @returns the first event in it that may be delivered.
  oldest_event look_ahead(op_id from, op_id through,
                          std::span<const storage::log_entry_ptr> entries) {
    return feed_.look_ahead(from, through, entries);
  }

  bool awaits_page() const noexcept { return feed_.awaits_page(); }

  uint64_t dead_letters() const noexcept { return ledger_.dead_letters(); }

  // Events in memory that wait for their turn or for an ack; bytes of the log
  // entries kept for them; DIDs and events that are only remembered.
  size_t events() const noexcept { return window_.events(); }
  size_t bytes() const noexcept { return window_.bytes(); }
  size_t remembered() const noexcept { return lanes_.remembered(); }
  size_t ranges() const noexcept { return ledger_.ranges(); }
  size_t lanes() const noexcept { return lanes_.size(); }
  size_t sessions() const noexcept { return sessions_.size(); }

  /// Dead letters that are in no write yet.
  std::span<const dead_letter> letters() const noexcept {
    return ledger_.letters();
  }
  const delivery_counters& counters() const noexcept {
    return ledger_.counters();
  }

private:
  effects pump(steady_time now);
  bool send_ready(steady_time now, effects& out);
  bool send_lane(delivery_lane& x, steady_time now, effects& out);
  bool is_void(delivery_lane& x, const delivery_lane::event& event,
               const account_board::standing& standing) const;
  void send(delivery_session& to, delivery_lane& lane, delivery_lane::event& x,
            steady_time now, effects& out);
  void take_report(delivery_session& x, size_t taken, steady_time now);
  bool ack(delivery_session* from, op_id id, steady_time now);
  bool ack_unseen(op_id id);
  void expire(const delivery_flight& x, steady_time now);
  std::chrono::microseconds delay_after(uint32_t attempts) const noexcept;
  bool is_over(const letter_wish& x) const;
  bool reopen(const letter_wish& x, steady_time now);

  const delivery_options options_;
  const account_board& accounts_;
  /// An earlier life may have sent anything up to here, so acks for these ids
  /// count.
  const op_id believed_through_;
  delivery_ledger ledger_;
  delivery_window window_; ///< It outlives all entries that it holds.
  delivery_sessions sessions_{options_};
  delivery_lanes lanes_{options_, ledger_, window_};
  account_holds holds_;
  log_feed feed_;
};

} // namespace weir::actors
