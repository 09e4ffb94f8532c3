#pragma once

#include "actors/consumer/delivery_machine.hpp"
#include "actors/consumer/limits.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_set>

namespace weir::tests {

/// A log, a store, accounts and clients around one `delivery_machine`. It does
/// the work of the CONSUMER's shell at once, and checks every event that is
/// sent.
class delivery_world {
public:
  using op_id = storage::op_id;
  using effects = actors::delivery_effects;

  explicit delivery_world(actors::delivery_options options = {});

  // -- the log ----------------------------------------------------------------

  /// The fetch that brings the history that is appended from now on.
  uint64_t fetch = 1;

  /// Appends a transaction of `count` creates; returns its first id.
  op_id append(const std::string& who, size_t count = 1, bool live = true,
               const std::string& collection = "app.bsky.feed.post",
               size_t body_bytes = 2);

  /// Appends a `$commit` without records.
  op_id append_commit(const std::string& who);

  /// Changes the account and appends the operation that tells it.
  op_id append_account(const std::string& who, bool active,
                       const std::string& status = "deactivated");

  /// The same for a deletion: everything that came before is erased.
  op_id append_deletion(const std::string& who);

  /// Removes the account's content from the log and leaves only facts.
  void sweep(const std::string& who);

  /// Leaves a gap in the ids, as a restore does.
  void skip_ids(uint64_t count) { next_ += count; }

  op_id last() const { return next_ - 1; }

  uint64_t log_events() const { return events_; }

  storage::log_entry_ptr entry_of(op_id id) const;

  const std::string& did_of(op_id id) const { return entry_of(id)->repo.str(); }

  static bool is_fact(const storage::logged_operation& op);

  // -- the shell --------------------------------------------------------------

  /// Starts the machine from what is stored; whatever was in flight is lost.
  void restart();

  /// The same when all acks are written.
  void restart_written() {
    pass(limits::acks_write_wait);
    restart();
  }

  /// Carries out effects, and those that follow from their answers, until none
  /// is left.
  void carry(effects todo);

  /// Carries out effects; their answers wait.
  void begin(effects todo);

  /// Delivers one of the waiting answers, if any.
  bool answer_one(size_t choice);

  /// Informs the machine of everything that was appended.
  void publish() { carry(machine->on_log(last(), events_, now)); }

  void connect(actors::session_id id);
  void disconnect(actors::session_id id);
  void ack(op_id id, actors::session_id from = 1);

  /// Acks all unacked events, and those that come then, until none comes;
  /// except those of the DIDs in `except`.
  void ack_all(const std::unordered_set<std::string>& except = {});

  /// Decides on dead letters as an operator does. @returns the result
  letters_report
  decide(const std::vector<op_id>& ids, actors::letter_wish::fate what);

  /// Lets time pass and rings every timer that is due.
  void pass(std::chrono::microseconds x);

  actors::account_board::standing standing(const atproto::did& repo) const {
    return accounts.of(repo);
  }

  void set_active(const std::string& who, bool active) {
    const auto repo = atproto::did::trusted(who);
    auto x = accounts.of(repo);
    x.active = active;
    accounts.put(repo, x);
  }

  /// Erases everything of the account that was appended so far.
  void set_erased(const std::string& who) {
    const auto repo = atproto::did::trusted(who);
    auto x = accounts.of(repo);
    x.erased_through = last();
    accounts.put(repo, x);
  }

  /// Ids in the order in which they were sent.
  std::vector<op_id> sent_ids() const;

  /// Whether the event is a dead letter that is being stored.
  bool buried(op_id id) const;

  /// How often this machine has sent an event.
  size_t times_sent(op_id id) const;

  bool stored_as_acked(op_id id) const;

  /// What is stored when acks have waited long enough to be written.
  op_id written_position() {
    pass(limits::acks_write_wait);
    return position;
  }
  bool written_as_acked(op_id id) {
    pass(limits::acks_write_wait);
    return stored_as_acked(id);
  }

  actors::delivery_options options;
  std::unique_ptr<actors::delivery_machine> machine;
  steady_time now{1'000'000};
  actors::account_board accounts;

  // The content of the store.
  op_id position = 0;
  std::map<op_id, op_id> ranges;
  std::map<op_id, actors::dead_letter> letters;
  uint64_t settled = 0;
  bool ran_before = false;
  bool disk_is_slow = false; ///< Rows are not stored until `write_rows`.
  std::optional<effects::write> rows; ///< Rows that are not stored yet.
  std::deque<op_id> pages;
  std::deque<effects::did_wish> did_pages;

  // The events that the clients have.
  std::vector<effects::send> sent;        ///< Events that this machine sent.
  std::map<op_id, effects::send> unacked; ///< Kept across restarts.
  std::unordered_set<op_id> acked;        ///< Kept across restarts.
  std::unordered_set<op_id> retried; ///< Dead letters that became events again.
  std::unordered_set<op_id> dropped; ///< Dead letters that were dropped.
  std::map<actors::session_id, std::vector<op_id>> inbox;
  /// Number of messages that a socket takes per call.
  size_t socket_room = 1'000'000;
  std::unordered_set<actors::session_id> full_sockets;

  /// Called for each event that is sent.
  std::function<void(const effects::send&)> on_send;

  std::optional<steady_time> timer;
  size_t pages_read = 0;
  size_t did_pages_read = 0;

  /// A page of the log as a READER returns it.
  std::vector<storage::log_entry_ptr> read_log(op_id after) const;

  /// The oldest event that is due, found as the shell does: it reads the part
  /// of the log that the machine has not read.
  actors::oldest_event find_oldest();

  /// Stores the waiting rows and reports that.
  void write_rows();

private:
  size_t room_of(actors::session_id id) const {
    return full_sockets.contains(id) ? 0 : socket_room;
  }

  void take_sends(const effects& todo);
  did_page read_did(const effects::did_wish& wish) const;
  void check_send(const effects::send& x) const;

  std::vector<storage::log_entry_ptr> log_;
  op_id next_ = 1;
  uint64_t events_ = 0; ///< Number of events in the log.
};

/// DID number `n`.
std::string did_number(size_t n);

/// Two accounts for tests that need few.
inline const auto ann = did_number(1);
inline const auto bob = did_number(2);

} // namespace weir::tests
