#pragma once

#include "actors/consumer/delivery_lane.hpp"
#include "actors/consumer/delivery_ledger.hpp"

#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace weir::actors {

/// The memory of a consumer: events that wait for their turn or for an ack, the
/// log entries kept for them, and the room reserved for pages on their way.
///
/// # Limits
/// `events_max` events; `bytes_max` of log entries, plus one entry.
class delivery_window {
public:
  /// @param options Must outlive the window, which outlives all that it holds.
  explicit delivery_window(const delivery_options& options) noexcept
    : options_(options) {}

  delivery_window(const delivery_window&) = delete;
  delivery_window& operator=(const delivery_window&) = delete;

  size_t events() const noexcept { return events_; }
  size_t bytes() const noexcept { return bytes_; }

  bool has_room(size_t events) const noexcept {
    return events_ + reserved_events_ + events <= options_.events_max;
  }

  /// An entry of any size fits when the window is empty.
  bool fits(size_t bytes) const noexcept {
    const auto used = bytes_ + reserved_bytes_;
    return used == 0 || used + bytes <= options_.bytes_max;
  }

  held_entry_ptr hold(storage::log_entry_ptr x) {
    return std::make_shared<const held_entry>(std::move(x), bytes_);
  }

  void add_event() noexcept { ++events_; }
  void remove_event() noexcept { --events_; }

  /// Reserves room for a page that is requested.
  void reserve(size_t events, size_t bytes) noexcept {
    reserved_events_ += events;
    reserved_bytes_ += bytes;
  }

  void end_reserve(size_t events, size_t bytes) noexcept {
    reserved_events_ -= events;
    reserved_bytes_ -= bytes;
  }

private:
  const delivery_options& options_;
  size_t events_ = 0;
  size_t bytes_ = 0;
  size_t reserved_events_ = 0;
  size_t reserved_bytes_ = 0;
};

/// The lanes of all DIDs that have something to deliver, and what each waits
/// for: to be sent, to be read, or for a moment.
///
/// # Limits
/// About `parked_max` lanes and events are remembered, plus or minus one
/// window.
class delivery_lanes {
public:
  /// @param options Must outlive this.
  delivery_lanes(const delivery_options& options, delivery_ledger& ledger,
                 delivery_window& window) noexcept
    : options_(options), ledger_(ledger), window_(window) {}

  // -- which lanes there are --------------------------------------------------

  /// @param facts True for the facts of an account, while it is not active.
  /// @returns null when there is no such lane.
  delivery_lane* find(const atproto::did& repo, bool facts) const;
  delivery_lane& make(const atproto::did& repo, bool facts);

  /// Call it last after every change of a lane, which it may remove.
  void touch(delivery_lane& x, steady_time now);

  size_t size() const noexcept { return records_.size() + facts_.size(); }

  /// Number of lanes and events without a place in the window.
  size_t remembered() const noexcept { return remembered_; }

  /// The lane whose queue or sent events contain that event; or null.
  delivery_lane* holder(op_id id) const {
    const auto i = index_.find(id);
    return i != index_.end() ? i->second : nullptr;
  }

  /// The first waiting event that may be delivered, and its lane; or null.
  std::pair<op_id, const delivery_lane*> first_waiting() const;

  // -- events -----------------------------------------------------------------

  /// Appends operation `index` of the entry to the queue.
  void push(delivery_lane& x, const held_entry_ptr& held, size_t index);

  /// Settles an event, for whatever reason.
  void settle(delivery_lane& x, delivery_lane::event& event);

  /// The same for an event that was sent and is no longer in the queue.
  void settle_parked(delivery_lane& x, op_id id);

  /// Events that were sent, and lie before the part of the log that is to be
  /// read for their DID, no longer exist: they cannot be acked.
  void forget_outstanding(delivery_lane& x);

  // -- parking ----------------------------------------------------------------

  bool may_park(const delivery_lane& x) const noexcept {
    return x.remembered > 0
           || remembered_ + 1 + x.queue.size() <= options_.parked_max;
  }

  /// Takes a DID's events out of the window; they are read again later. Acks of
  /// sent events still count.
  void park(delivery_lane& x);

  /// Parks the records of a DID until `release`.
  void hold(delivery_lane& x);
  void release(delivery_lane& x, steady_time now);
  bool has_held() const noexcept { return held_ > 0; }

  /// Calls `f` for lanes whose records wait, in no order.
  /// @pre no lane is made or removed meanwhile
  template <class Function>
  void for_each_held(Function f) {
    for (auto& [repo, lane] : records_)
      if (lane->held && !facts_.contains(repo))
        f(*lane);
  }

  // -- waiting for a moment ---------------------------------------------------

  /// Ends the pause of a lane before its next attempt.
  void wake(delivery_lane& x);

  /// Ends the pauses that are over. With `all` it ends all pauses, because a
  /// client that reconnects may be repaired.
  void wake_due(steady_time now, bool all = false);

  // -- turns ------------------------------------------------------------------

  bool has_ready() const noexcept { return !ready_.empty(); }

  /// The next lane with an event that can be sent. @pre there is one
  delivery_lane& take_ready();

  /// The next lane of which a page can be read; or null.
  delivery_lane* next_due() const noexcept {
    return due_.empty() ? nullptr : due_.front();
  }
  void end_due(steady_time now);

  /// A lane with a full queue holds up the log, which is allowed for a short
  /// time only. @returns true when that time is over.
  bool hold_up_log(const delivery_lane& x, steady_time now);

  /// Ends the wait, unless it is for that lane.
  void end_hold_up(const delivery_lane* but = nullptr) noexcept {
    if (blocking_ != but)
      blocking_ = nullptr;
  }

  // -- dead letters to be delivered again -------------------------------------

  /// Nothing of these DIDs is sent until `unwatch`.
  void watch(std::vector<atproto::did> repos) {
    for (auto& x : repos)
      watched_.insert(std::move(x));
  }

  void unwatch(steady_time now);
  bool is_watched(const delivery_lane& x) const {
    return !watched_.empty() && watched_.contains(x.repo);
  }

  /// @returns when a lane wakes, or the log goes on without one; none: never.
  std::optional<steady_time> due(steady_time now) const;

private:
  using lane_map
    = std::unordered_map<atproto::did, std::unique_ptr<delivery_lane>>;

  void plan(delivery_lane& x, steady_time now);
  void drop(delivery_lane& x, steady_time now);

  const delivery_options& options_;
  delivery_ledger& ledger_;
  delivery_window& window_;
  lane_map records_; ///< They have facts of active accounts, too.
  lane_map facts_;
  /// The lane of each event in a queue or outstanding.
  std::unordered_map<op_id, delivery_lane*> index_;
  std::deque<delivery_lane*> ready_;
  std::deque<delivery_lane*> due_;
  std::set<sleeping_lane> sleeping_;
  /// Lanes with deliverable events, by their first event.
  std::set<std::pair<op_id, delivery_lane*>> waiting_;
  size_t remembered_ = 0;
  size_t held_ = 0;
  const delivery_lane* blocking_ = nullptr; ///< The lane that holds up the log.
  steady_time blocking_since_;
  std::unordered_set<atproto::did> watched_;
};

} // namespace weir::actors
