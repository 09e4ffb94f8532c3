#pragma once

#include "actors/consumer/delivery_machine.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_set>

namespace weir::tests {

/// A log, a store, accounts and clients around one `delivery_machine`. It does
/// what the shell of the CONSUMER does, at once, and checks on the way what
/// must hold for every event that is sent.
class delivery_world {
public:
  using op_id = storage::op_id;
  using effects = actors::delivery_effects;

  explicit delivery_world(actors::delivery_options options = {});

  // -- the log ----------------------------------------------------------------

  /// Which one brings the history that is appended from now on.
  uint64_t fetch = 1;

  /// Appends a transaction of `count` creates; returns its first id.
  op_id append(const std::string& who, size_t count = 1, bool live = true,
               const std::string& collection = "app.bsky.feed.post",
               size_t body_bytes = 2);

  /// `$commit` of nothing else.
  op_id append_commit(const std::string& who);

  /// The account changes, and the log says so.
  op_id append_account(const std::string& who, bool active,
                       const std::string& status = "deactivated");

  /// The same, and all that came before is erased.
  op_id append_deletion(const std::string& who);

  /// The log holds no content of it any more, but facts.
  void sweep(const std::string& who);

  /// As after a restore, where ids go on far above.
  void skip_ids(uint64_t count) { next_ += count; }

  op_id last() const { return next_ - 1; }

  uint64_t log_events() const { return events_; }

  storage::log_entry_ptr entry_of(op_id id) const;

  const std::string& did_of(op_id id) const { return entry_of(id)->repo.str(); }

  static bool is_fact(const storage::logged_operation& op);

  // -- the shell --------------------------------------------------------------

  /// Starts the machine from what is stored; what was on its way is lost.
  void restart();

  /// Carries out effects, and the effects of their answers, until none is left.
  void carry(effects todo);

  /// Carries out effects; answers wait.
  void begin(effects todo);

  /// Gives one of the answers that wait, if any.
  bool answer_one(size_t choice);

  /// Tells the machine of everything appended.
  void publish() { carry(machine->on_log(last(), events_, now)); }

  void connect(actors::session_id id);
  void disconnect(actors::session_id id);
  void ack(op_id id, actors::session_id from = 1);

  /// Acks whatever is unacked, and what comes then, until nothing comes; not
  /// the DIDs in `except`.
  void ack_all(const std::unordered_set<std::string>& except = {});

  /// Decides on dead letters as an operator does; what became of them.
  letters_report
  decide(const std::vector<op_id>& ids, actors::letter_wish::fate what);

  /// Lets time pass, with every timer on the way.
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

  /// All that was appended so far.
  void set_erased(const std::string& who) {
    const auto repo = atproto::did::trusted(who);
    auto x = accounts.of(repo);
    x.erased_through = last();
    accounts.put(repo, x);
  }

  /// Ids in the order in which they were sent.
  std::vector<op_id> sent_ids() const;

  /// A dead letter on its way to the store.
  bool buried(op_id id) const;

  /// How often an event was sent by this machine.
  size_t times_sent(op_id id) const;

  bool stored_as_acked(op_id id) const;

  actors::delivery_options options;
  std::unique_ptr<actors::delivery_machine> machine;
  steady_time now{1'000'000};
  actors::account_board accounts;

  // What the store holds.
  op_id position = 0;
  std::map<op_id, op_id> ranges;
  std::map<op_id, actors::dead_letter> letters;
  uint64_t settled = 0;
  bool ran_before = false;
  bool disk_is_slow = false; ///< Rows stay on their way until `write_rows`.
  std::optional<effects::write> rows; ///< On their way.
  std::deque<effects::page_wish> pages;
  std::deque<effects::did_wish> did_pages;

  // What the clients have.
  std::vector<effects::send> sent;        ///< Of this machine.
  std::map<op_id, effects::send> unacked; ///< Across restarts, too.
  std::unordered_set<op_id> acked;        ///< Across restarts, too.
  std::unordered_set<op_id> retried; ///< Dead letters that are events again.
  std::unordered_set<op_id> dropped; ///< Or nothing any more.
  std::map<actors::session_id, std::vector<op_id>> inbox;
  size_t socket_room = 1'000'000; ///< Messages a socket takes per call.
  std::unordered_set<actors::session_id> full_sockets;

  /// Called for each event that is sent.
  std::function<void(const effects::send&)> on_send;

  std::optional<steady_time> timer;
  size_t pages_read = 0;
  size_t did_pages_read = 0;

  /// A page of the log, as a READER gives it.
  std::vector<storage::log_entry_ptr> read_log(op_id after) const;

  /// The oldest event that is due, as the shell finds it: the log is read where
  /// the machine has not.
  actors::oldest_event find_oldest();

  /// Stores the rows on their way and says so.
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
  uint64_t events_ = 0; ///< Of the log.
};

/// DID number `n`.
std::string did_number(size_t n);

/// Two accounts for tests that need no more.
inline const auto ann = did_number(1);
inline const auto bob = did_number(2);

} // namespace weir::tests
