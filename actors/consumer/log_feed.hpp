#pragma once

#include "actors/consumer/account_holds.hpp"
#include "actors/consumer/delivery_sessions.hpp"

#include <algorithm>

namespace weir::actors {

/// What is read of the log for one consumer, and the lanes that it goes to:
/// page after page of all DIDs, and again, for one DID alone, the events that
/// were passed for it.
///
/// A DID with a full queue holds up the log only for `patience`; then its
/// events are passed. While an account is not active, its records are passed,
/// too.
///
/// # Limits
/// Everything that is requested has room in the window. At most
/// `consumer_did_pages_max` pages of DIDs are on their way. With `ranges_max`
/// sparse ranges of acks, passed events become dead letters.
class log_feed {
public:
  /// @param options Must outlive this, and so must the accounts.
  /// @param durable The last operation in the log.
  log_feed(const delivery_options& options, const account_board& accounts,
           delivery_ledger& ledger, delivery_window& window,
           delivery_lanes& lanes, account_holds& holds,
           const delivery_sessions& sessions, op_id durable) noexcept
    : options_(options), accounts_(accounts), ledger_(ledger), window_(window),
      lanes_(lanes), holds_(holds), sessions_(sessions),
      next_(ledger.next_open(1)), durable_(durable) {}

  op_id durable() const noexcept { return durable_; }

  void note_log(op_id durable) noexcept {
    durable_ = std::max(durable_, durable);
    at_end_ = false;
  }

  /// Whether this life has not reached the operation yet.
  bool is_ahead(op_id id) const noexcept { return id >= seen(); }

  /// Whether the whole log is in lanes or settled.
  bool is_at_end() const noexcept {
    return page_.empty() && !page_asked_ && ledger_.next_open(next_) > durable_;
  }

  // -- the log ----------------------------------------------------------------

  bool awaits_page() const noexcept { return page_asked_; }
  void ask_page(delivery_effects& out);
  void take_page(std::vector<storage::log_entry_ptr> entries);

  /// Moves operations of the current page to lanes, until the window or a queue
  /// is full.
  void fill(steady_time now);

  // -- one DID ----------------------------------------------------------------

  void ask_did_pages(steady_time now, delivery_effects& out);

  /// @returns whether the page was requested.
  bool take_did_page(const did_page& page, steady_time now);

  // -- the oldest event -------------------------------------------------------

  oldest_event oldest_due() const noexcept;
  oldest_event look_ahead(op_id from, op_id through,
                          std::span<const storage::log_entry_ptr> entries);

private:
  op_id seen() const noexcept { return std::max(next_, again_until_); }
  delivery_kind kind(const storage::logged_operation& op) const noexcept {
    return kind_of(op, options_.filter);
  }
  bool take_one(const held_entry_ptr& held, size_t index, steady_time now);
  bool take_again(const storage::log_entry& entry, op_id id);
  bool let_pass(delivery_lane& x, op_id id, const storage::logged_operation& op,
                steady_time now);
  void pass(delivery_lane& x, op_id id, const storage::logged_operation& op);
  bool ask_did_page(delivery_lane& x, delivery_effects& out);
  bool read_page(delivery_lane& x, const did_page& page, size_t room);
  bool read_entry(delivery_lane& x, const held_entry_ptr& held, size_t& room);

  const delivery_options& options_;
  const account_board& accounts_;
  delivery_ledger& ledger_;
  delivery_window& window_;
  delivery_lanes& lanes_;
  account_holds& holds_;
  const delivery_sessions& sessions_;

  op_id next_;           ///< Everything below is settled, in a lane, or passed.
  op_id again_from_ = 0; ///< The log is read again from here; 0: it is not.
  op_id again_until_ = 0; ///< All operations below were read before.
  op_id durable_;
  op_id idle_through_ = 0; ///< No unread event up to here may be delivered.
  bool at_end_ = false;    ///< The log had no more at the last request.
  bool page_asked_ = false;
  std::deque<held_entry_ptr> page_; ///< Entries that are not taken yet.
  size_t did_pages_asked_ = 0;
  bool starved_ = false; ///< A DID's page waits for room in the window.
};

} // namespace weir::actors
