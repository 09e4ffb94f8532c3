#pragma once

#include "actors/consumer/delivery_ledger.hpp"
#include "actors/consumer/delivery_window.hpp"

#include <set>
#include <unordered_map>
#include <unordered_set>

namespace weir::actors {

/// The lanes of all DIDs that have something to deliver, and what each waits
/// for: to be sent, to be read, or for a moment.
///
/// # Limits
/// `parked_max` lanes and events are remembered, give or take a window.
class delivery_lanes {
public:
  using op_id = storage::op_id;

  /// @param options Outlive this.
  delivery_lanes(const delivery_options& options, delivery_ledger& ledger,
                 delivery_window& window) noexcept
    : options_(options), ledger_(ledger), window_(window) {
    // nop
  }

  // -- which there are --------------------------------------------------------

  /// @param facts Of an account that is not active, while that is so.
  /// @returns null when there is none.
  delivery_lane* find(const atproto::did& repo, bool facts) const;
  delivery_lane& make(const atproto::did& repo, bool facts);

  /// To be called last after every change of a lane, which may be gone then.
  void touch(delivery_lane& x, steady_time now);

  size_t size() const noexcept { return records_.size() + facts_.size(); }

  /// Lanes and events without a place in the window.
  size_t remembered() const noexcept { return remembered_; }

  /// The lane whose queue, or whose sent events, have that event; or null.
  delivery_lane* holder(op_id id) const;

  /// The first event that waits and may be delivered, and its lane; or null.
  std::pair<op_id, const delivery_lane*> first_waiting() const;

  // -- events -----------------------------------------------------------------

  /// Appends operation `index` of the entry to the queue.
  void push(delivery_lane& x, const held_entry_ptr& held, size_t index);

  /// Done with an event, for whatever reason.
  void settle(delivery_lane& x, delivery_lane::event& event);

  /// The same for one that was sent and is not in the queue any more.
  void settle_parked(delivery_lane& x, op_id id);

  /// Events that were sent, and lie before what is to be read of their DID, are
  /// not there any more: they cannot be acked.
  void forget_outstanding(delivery_lane& x);

  // -- parking ----------------------------------------------------------------

  bool may_park(const delivery_lane& x) const noexcept {
    return x.remembered > 0
           || remembered_ + 1 + x.queue.size() <= options_.parked_max;
  }

  /// Takes a DID's events out of the window; they are read again. Acks of those
  /// that were sent still count.
  void park(delivery_lane& x);

  /// Parks the records of a DID until `release`.
  void hold(delivery_lane& x);
  void release(delivery_lane& x, steady_time now);
  bool has_held() const noexcept { return held_ > 0; }

  /// Lanes of records, in no order. @pre none is made or dropped meanwhile.
  template <class Function>
  void for_each_held(Function f) {
    for (auto& [repo, lane] : records_)
      if (lane->held && !facts_.contains(repo))
        f(*lane);
  }

  // -- waiting for a moment ---------------------------------------------------

  /// Ends the wait of a lane before its next attempt.
  void wake(delivery_lane& x);

  /// Ends those that are over; all: a client that comes back may have been
  /// mended.
  void wake_due(steady_time now, bool all = false);

  // -- turns ------------------------------------------------------------------

  /// The next lane of which an event can be sent; or null.
  delivery_lane* take_ready();
  bool has_ready() const noexcept { return !ready_.empty(); }

  /// The next lane of which a page can be read; or null.
  delivery_lane* next_due() const noexcept {
    return due_.empty() ? nullptr : due_.front();
  }
  void end_due(steady_time now);

  /// The log waits for a lane with a full queue, which it does for a short
  /// while only. @returns true when it has waited long enough.
  bool hold_up_log(const delivery_lane& x, steady_time now);

  /// Unless it is that one.
  void end_hold_up(const delivery_lane* but = nullptr) noexcept {
    if (blocking_ != but)
      blocking_ = nullptr;
  }

  // -- dead letters that are wanted -------------------------------------------

  /// Nothing of these is sent until `unwatch`.
  void watch(std::vector<atproto::did> repos);
  void unwatch(steady_time now);
  bool is_watched(const delivery_lane& x) const {
    return !watched_.empty() && watched_.contains(x.repo);
  }

  /// When a lane wakes, or the log goes on without one; none: nothing waits.
  std::optional<steady_time> due(steady_time now) const;

private:
  using lane_map
    = std::unordered_map<atproto::did, std::unique_ptr<delivery_lane>>;

  void plan(delivery_lane& x, steady_time now);
  void drop(delivery_lane& x, steady_time now);

  const delivery_options& options_;
  delivery_ledger& ledger_;
  delivery_window& window_;
  lane_map records_; ///< Facts, too, but for accounts that are not active.
  lane_map facts_;
  std::unordered_map<op_id, delivery_lane*> index_; ///< In queues, outstanding.
  std::deque<delivery_lane*> ready_;
  std::deque<delivery_lane*> due_;
  std::set<sleeping_lane> sleeping_;
  /// What may be delivered, by its first event.
  std::set<std::pair<op_id, delivery_lane*>> waiting_;
  size_t remembered_ = 0;
  size_t held_ = 0;
  const delivery_lane* blocking_ = nullptr; ///< Holds up the log.
  steady_time blocking_since_;
  std::unordered_set<atproto::did> watched_;
};

} // namespace weir::actors
