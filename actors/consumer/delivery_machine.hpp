#pragma once

#include "actors/consumer/log_feed.hpp"

#include <span>

namespace weir::actors {

/// The rules of one consumer on one partition of the log (api.md, Acks;
/// architecture.md I5, I8), without CAF, clock, disk or socket.
///
/// Feed it events, carry out the `delivery_effects`. Same events, same effects.
/// Its parts own what is settled (`delivery_ledger`), the room in memory
/// (`delivery_window`), the connections (`delivery_sessions`), the events of
/// each DID (`delivery_lanes`), what waits for an account (`account_holds`),
/// and what is read of the log (`log_feed`). Here it is decided what is sent,
/// and what becomes of it: acks, silence, dead letters.
///
/// # Order
/// Per DID, a live event and a fact about the account are barriers: they wait
/// for all earlier events of the DID, and later ones wait for them until they
/// are acked. Historical events of one fetch, which tells of each record once,
/// may be in flight together, never across a barrier or with those of another
/// fetch. DIDs do not wait for each other.
///
/// # Parking
/// A DID that does not ack leaves the window after `retry_timeout`; the log
/// goes on without it. Its first event is tried again, alone, with growing
/// delays; after `attempts_max` tries, if there is an end, it becomes a dead
/// letter and the next one follows. Events that were passed are read again for
/// this DID alone, until it has caught up with the log. A DID that merely has
/// too much at once goes the same way, without delay.
///
/// # Accounts
/// No record of an account that is not active is sent; its facts overtake its
/// records. The records wait until a fact says that the account is back, also
/// where an earlier life of the process sent the fact that it is away. What was
/// erased is settled without being sent.
///
/// # Dead letters
/// One that is wanted again is unsettled again, an event like any other of its
/// DID. Whoever wants it looks first whether a later event makes it outdated;
/// nothing of the DID is sent meanwhile, so that the answer still holds when it
/// comes.
///
/// # Durability
/// Only acks (and what needs none) settle an event. Position and ranges are the
/// whole state: what they lack is read and sent again after a restart.
///
/// # Limits
/// `events_max` events of which `did_events_max` of one DID; `bytes_max` of log
/// entries held, and one entry; `parked_max` DIDs and events remembered for
/// late acks, give or take a window; `ranges_max` sparse ranges, above which
/// passed events become dead letters.
class delivery_machine {
public:
  using op_id = storage::op_id;
  using effects = delivery_effects;

  /// @param gate Outlives the machine.
  delivery_machine(delivery_options options, const delivery_state& state,
                   const account_gate& gate);

  delivery_machine(const delivery_machine&) = delete;
  delivery_machine& operator=(const delivery_machine&) = delete;

  effects on_session_up(session_id id, steady_time now);
  effects on_session_down(session_id id, steady_time now);

  /// The log is durable up to `durable`, and has so many events up to there.
  effects on_log(op_id durable, uint64_t log_events, steady_time now);

  effects on_page(std::vector<storage::log_entry_ptr> entries, steady_time now);
  effects on_did_page(const did_entries& page, steady_time now);

  /// One report for each session in the `sends` of the last effects.
  effects on_sent(std::span<const sent_report> reports, steady_time now);

  /// Acks may be late, repeated, out of order, of an earlier connection.
  effects on_acks(session_id from, std::span<const op_id> ids, steady_time now);

  /// Nothing of these is sent until `on_letters`.
  void watch(std::vector<atproto::did> repos);

  /// Decides on dead letters whose rows are durable. It is so once a write with
  /// `letters_gone` is durable.
  effects on_letters(std::span<const letter_wish> wishes, steady_time now,
                     letters_settled& out);

  effects on_durable_rows(steady_time now);
  effects on_timer(steady_time now);

  /// The last call: what is settled and on its way to no write yet. The store
  /// takes writes in order, so this one does not wait for the one before it.
  effects on_stop(steady_time now);

  // -- state ------------------------------------------------------------------

  op_id position() const noexcept { return ledger_.position(); }

  /// Durable events that are not settled yet, due or not (docs/adr/0023).
  uint64_t backlog() const noexcept { return ledger_.backlog(); }

  /// Without records of accounts that are not active.
  oldest_event oldest_due() const noexcept { return feed_.oldest_due(); }

  /// What lies in the log from an `oldest_due` that is unread, up to `through`.
  /// @returns the first event in it that may be delivered.
  oldest_event look_ahead(op_id from, op_id through,
                          std::span<const storage::log_entry_ptr> entries) {
    return feed_.look_ahead(from, through, entries);
  }

  uint64_t dead_letters() const noexcept { return ledger_.dead_letters(); }

  // Events in memory, which wait for their turn or for an ack; bytes of the log
  // entries held for them; DIDs and events that are only remembered.
  size_t events() const noexcept { return window_.events(); }
  size_t bytes() const noexcept { return window_.bytes(); }
  size_t remembered() const noexcept { return lanes_.remembered(); }
  size_t ranges() const noexcept { return ledger_.ranges(); }
  size_t lanes() const noexcept { return lanes_.size(); }
  size_t sessions() const noexcept { return sessions_.size(); }

  /// Dead letters that are not on their way to the store yet.
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
               const account_standing& standing) const;
  void send(delivery_session& to, delivery_lane& lane, delivery_lane::event& x,
            steady_time now, effects& out);
  void take_report(delivery_session& x, size_t taken, steady_time now);
  bool ack(delivery_session* from, op_id id, steady_time now);
  bool ack_unseen(op_id id);
  void expire(const delivery_flight& x, steady_time now);
  std::chrono::microseconds delay_after(uint32_t attempts) const noexcept;
  bool is_over(const letter_wish& x) const;
  bool reopen(const letter_wish& x, steady_time now);
  void arm(steady_time now, effects& out) const;

  const delivery_options options_;
  const account_gate& gate_;
  /// Any of these may have been sent by an earlier life, so acks for them
  /// count.
  const op_id believed_through_;
  delivery_ledger ledger_;
  delivery_window window_; ///< Outlives all that is held.
  delivery_sessions sessions_{options_};
  delivery_lanes lanes_{options_, ledger_, window_};
  account_holds holds_;
  log_feed feed_;
};

} // namespace weir::actors
