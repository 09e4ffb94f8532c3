#pragma once

#include "actors/consumer/acked_set.hpp"
#include "actors/consumer/delivery_lane.hpp"

#include <map>
#include <set>
#include <span>
#include <unordered_map>
#include <unordered_set>

namespace weir::actors {

/// The rules of one consumer on one partition of the log (api.md, Acks;
/// architecture.md I5, I8), without CAF, clock, disk or socket.
///
/// Feed it events, carry out the `delivery_effects`. Same events, same effects.
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
/// delays; after `attempts_max` tries, if there is an end, it becomes a dead letter
/// and the next one follows. Events that were passed are read again for this DID
/// alone, until it has caught up with the log. A DID that merely has too much at
/// once goes the same way, without delay.
///
/// # Accounts
/// No record of an account that is not active is sent; its facts overtake its
/// records. The records wait until a fact says that the account is back, also
/// where an earlier life of the process told that it is away: which, the log
/// knows and is asked for each DID of which that life passed a record.
/// What was erased is settled without being sent.
///
/// # Dead letters
/// One that is wanted again is unsettled again, an event like any other of its DID.
/// Whoever wants it looks first whether a later event makes it outdated; nothing of
/// the DID is sent meanwhile, so that the answer still holds when it comes.
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

  /// A session that did not take all has room again; else it is tried later.
  effects on_drained(session_id id, steady_time now);

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

  op_id position() const noexcept { return acked_.position(); }

  /// Durable events that are not settled yet, due or not (docs/adr/0023).
  uint64_t backlog() const noexcept {
    return log_events_ > settled_ ? log_events_ - settled_ : 0;
  }

  /// Without records of accounts that are not active.
  oldest_event oldest_due() const noexcept;

  /// What lies in the log from an `oldest_due` that is unread, up to `through`.
  /// @returns the first event in it that may be delivered.
  oldest_event look_ahead(op_id from, op_id through,
                          std::span<const storage::log_entry_ptr> entries);

  uint64_t dead_letters() const noexcept { return dead_letters_; }

  // Events in memory, which wait for their turn or for an ack; bytes of the log
  // entries held for them; DIDs and events that are only remembered.
  size_t events() const noexcept { return events_; }
  size_t bytes() const noexcept { return held_bytes_; }
  size_t remembered() const noexcept { return remembered_; }
  size_t ranges() const noexcept { return acked_.ranges(); }
  size_t lanes() const noexcept { return records_.size() + facts_.size(); }
  size_t sessions() const noexcept { return sessions_.size(); }

  /// Dead letters that are not on their way to the store yet.
  std::span<const dead_letter> letters() const noexcept { return letters_; }
  const delivery_counters& counters() const noexcept { return counters_; }

private:
  using lane_map
    = std::unordered_map<atproto::did, std::unique_ptr<delivery_lane>>;

  enum class kind : uint8_t { implicit, record, fact };
  kind kind_of(const storage::logged_operation& op) const noexcept;

  // delivery_machine.cpp
  void pump(steady_time now, effects& out);
  bool send_ready(steady_time now, effects& out);
  bool send_lane(delivery_lane& x, steady_time now, effects& out);
  void send(delivery_session& to, delivery_lane& lane, delivery_lane::event& x,
            steady_time now, effects& out);
  delivery_session* pick();
  delivery_session* find_session(session_id id);
  void take_report(delivery_session& x, size_t taken, steady_time now);
  bool ack(delivery_session* from, op_id id, steady_time now);
  bool ack_unseen(op_id id);
  bool close(op_id id);
  void recount(const storage::log_entry& entry);
  void save(steady_time now, effects& out);
  void arm(steady_time now, effects& out) const;

  // delivery_machine_pages.cpp
  bool fits(size_t bytes) const noexcept;
  void ask_page(effects& out);
  void ask_did_pages(steady_time now, effects& out);
  bool ask_did_page(delivery_lane& x, effects& out);
  void take(steady_time now);
  bool take_one(const held_entry_ptr& held, size_t index, steady_time now);
  bool take_again(const storage::log_entry& entry, op_id id);
  bool let_pass(delivery_lane& x, op_id id,
                const storage::logged_operation& op, steady_time now);
  void pass(delivery_lane& x, op_id id, const storage::logged_operation& op);
  void push(delivery_lane& x, const held_entry_ptr& held, size_t index);
  bool read_page(delivery_lane& x, const did_entries& page, size_t room);
  void end_part(delivery_lane& x);
  void look(delivery_lane& x, const did_entries& page, steady_time now);
  static void note_acked(delivery_lane& x, op_id id,
                         const storage::logged_operation& op);
  bool read_entry(delivery_lane& x, const held_entry_ptr& held, size_t& room);

  // delivery_machine_lanes.cpp
  static delivery_lane* find(lane_map& in, const atproto::did& repo);
  delivery_lane& make(const atproto::did& repo, bool facts);
  void touch(delivery_lane& x, steady_time now);
  void plan(delivery_lane& x, steady_time now);
  void wake(delivery_lane& x);
  void drop(delivery_lane& x, steady_time now);
  void settle(delivery_lane& x, delivery_lane::event& event);
  bool may_park(const delivery_lane& x) const noexcept;
  void park(delivery_lane& x);
  void hold(delivery_lane& x, steady_time now);
  delivery_lane& set_aside(delivery_lane& x);
  bool look_back(delivery_lane& x, op_id id, steady_time now);
  void end_look(delivery_lane& x, steady_time now);
  void give_up(delivery_lane& x);
  void release(delivery_lane& x, steady_time now);
  void sweep(steady_time now);
  steady_time deadline(const delivery_session& x) const noexcept;
  void expire(const delivery_flight& x, steady_time now);
  std::chrono::microseconds delay_after(uint32_t attempts) const noexcept;
  void bury(dead_letter x);

  // delivery_machine_letters.cpp
  bool is_watched(const delivery_lane& x) const;
  void unwatch(steady_time now);
  bool is_over(const letter_wish& x) const;
  bool reopen(const letter_wish& x, steady_time now);
  void forget(op_id letter);

  const delivery_options options_;
  const account_gate& gate_;
  acked_set acked_;
  delivery_counters counters_;
  uint64_t log_events_;
  uint64_t settled_; ///< Of them.
  uint64_t dead_letters_;
  std::vector<dead_letter> letters_; ///< To be written.
  std::vector<op_id> letters_gone_;  ///< The same.
  std::unordered_set<atproto::did> watched_;
  bool urgent_ = false;              ///< Acks are to be written.
  bool rows_in_flight_ = false;
  std::optional<steady_time> save_by_;

  op_id next_; ///< All below is settled, in a lane, or passed.
  op_id again_from_ = 0;  ///< To be read for what was erased; 0: nothing.
  op_id again_until_ = 0; ///< What lies below was seen before.
  op_id durable_;
  op_id idle_through_ = 0; ///< Nothing unread up to here may be delivered.
  const op_id believed_through_;
  op_id told_through_; ///< The last one of earlier lives that was acked.
  bool at_end_ = false; ///< The log had no more when last asked.
  bool page_asked_ = false;
  size_t events_ = 0;
  size_t held_bytes_ = 0;           ///< Outlives all that is held.
  std::deque<held_entry_ptr> page_; ///< Not taken yet.
  size_t reserved_events_ = 0;      ///< For pages of DIDs on their way.
  size_t reserved_bytes_ = 0;
  size_t did_pages_asked_ = 0;
  bool starved_ = false; ///< A DID's page waits for room in the window.

  std::map<session_id, delivery_session> sessions_;
  lane_map records_; ///< Facts, too, but for accounts that are not active.
  lane_map facts_;
  std::unordered_map<op_id, delivery_lane*> index_; ///< In queues, outstanding.
  std::deque<delivery_lane*> ready_;                ///< Something can be sent.
  std::deque<delivery_lane*> due_; ///< A page of the DID can be asked for.
  std::set<sleeping_lane> sleeping_;
  /// What may be delivered, by its first event.
  std::set<std::pair<op_id, delivery_lane*>> waiting_;
  size_t remembered_ = 0;
  size_t held_lanes_ = 0;
  steady_time sweep_at_;
  const delivery_lane* blocked_ = nullptr; ///< Holds up the log.
  steady_time blocked_since_;
};

} // namespace weir::actors
