#pragma once

#include "actors/consumer/delivery_types.hpp"

#include <algorithm>
#include <deque>
#include <list>
#include <memory>
#include <tuple>

namespace weir::actors {

struct delivery_lane;

/// The kind of an operation for a consumer: not sent at all, a record, or a
/// fact about the account (`$identity`, `$account`).
enum class delivery_kind : uint8_t { implicit, record, fact };

inline delivery_kind kind_of(const storage::logged_operation& op,
                             const wire::collection_filter& filter) noexcept {
  if (op.scope == storage::identity_scope || op.scope == storage::account_scope)
    return delivery_kind::fact;
  return !op.scope.starts_with('$') && !op.outdated && filter.matches(op.scope)
           ? delivery_kind::record
           : delivery_kind::implicit;
}

/// A log entry that is kept in memory for its events. Its bytes count on a
/// ledger while it lives.
class held_entry {
public:
  held_entry(storage::log_entry_ptr entry, size_t& ledger)
    : entry_(std::move(entry)), bytes_(entry_->bytes_held()), ledger_(ledger) {
    ledger_ += bytes_;
  }

  held_entry(const held_entry&) = delete;
  held_entry& operator=(const held_entry&) = delete;

  ~held_entry() { ledger_ -= bytes_; }

  const storage::log_entry_ptr& get() const noexcept { return entry_; }

private:
  storage::log_entry_ptr entry_;
  size_t bytes_;
  size_t& ledger_;
};

using held_entry_ptr = std::shared_ptr<const held_entry>;

/// An event in flight: sent and not acked.
struct delivery_flight {
  storage::op_id id = 0;
  delivery_lane* lane = nullptr;
  uint64_t number = 0; ///< Number of the event on its session.
  steady_time at;
};

using flight_list = std::list<delivery_flight>;

/// One connection of the consumer.
struct delivery_session {
  session_id id = 0;
  flight_list flights; ///< In the order in which they were sent.
  uint64_t sent = 0;
  uint64_t acked = 0; ///< Highest number that was acked.
  steady_time last_ack;
  size_t unreported = 0; ///< Sends whose outcome `on_sent` will report.
  /// Set when its socket took no more.
  std::optional<steady_time> blocked_until;
};

/// The events of one DID that are not settled: a queue in memory and, when
/// `behind`, a part of the log that will be read for this DID alone.
///
/// While an account is not active, its records and its facts (`$identity`,
/// `$account`) are in separate lanes, so that facts are sent.
struct delivery_lane {
  enum class stage : uint8_t { waiting, sent, settled };

  struct event {
    storage::op_id id = 0;
    held_entry_ptr held; ///< Null once the event is settled.
    uint32_t index = 0;
    uint64_t job = 0; ///< The fetch that brought it; 0: none.
    stage at = stage::waiting;
    bool barrier = false; ///< It must be alone in flight within its DID.
    bool known = false;   ///< It was sent before.
    delivery_session* session = nullptr; ///< Its connection while it is sent.
    flight_list::iterator flight;

    const storage::logged_operation& op() const noexcept {
      return held->get()->ops[index];
    }
  };

  delivery_lane(atproto::did did, bool of_facts)
    : repo(std::move(did)), facts(of_facts) {}

  /// Whether events of this DID in [read_from, through] are not in the queue.
  bool behind() const noexcept { return read_from <= through; }

  /// Whether facts of this DID in [look_from, look_through] may have been sent
  /// by an earlier life and must still be looked at.
  bool looks() const noexcept { return look_from <= look_through; }

  void pass(storage::op_id id) noexcept {
    if (!behind())
      read_from = id;
    through = id;
  }

  /// A settled event is open again. @pre nothing is in the queue
  void reopen(storage::op_id id) noexcept {
    const auto more = behind();
    through = more ? std::max(through, id) : id;
    read_from = more ? std::min(read_from, id) : id;
  }

  /// @returns the first waiting event or an id below it; 0: none waits, or none
  /// may be delivered.
  storage::op_id first_waiting() const noexcept {
    if (held)
      return 0;
    if (!behind())
      return queue.empty() ? 0 : queue.front().id;
    return queue.empty() ? read_from : std::min(read_from, queue.front().id);
  }

  /// Null when the event is not in the queue.
  event* find(storage::op_id id) noexcept {
    const auto i = std::ranges::lower_bound(queue, id, {}, &event::id);
    return i != queue.end() && i->id == id ? &*i : nullptr;
  }

  /// The event that may be sent next, or null.
  event* next_to_send() noexcept {
    while (next < queue.size() && queue[next].at != stage::waiting)
      ++next;
    if (next == queue.size())
      return nullptr;
    auto& x = queue[next];
    const auto& first = queue.front();
    if (next > 0 && (x.barrier || first.barrier || x.job != first.job))
      return nullptr; // Another fetch may contain the same record again.
    return &x;
  }

  /// Whether an event of the queue is in flight, on any session.
  bool is_in_flight() const noexcept {
    return std::ranges::any_of(queue, [](const event& x) {
      return x.session != nullptr;
    });
  }

  /// A sent event waits again.
  void take_back(event& x) noexcept {
    x.session->flights.erase(x.flight);
    x.session = nullptr;
    x.at = stage::waiting;
    const auto i = std::ranges::lower_bound(queue, x.id, {}, &event::id);
    next = std::min(next, static_cast<size_t>(i - queue.begin()));
  }

  /// A fact was sent, in this life or an earlier one.
  void note_fact(storage::op_id id, bool active) noexcept {
    if (id < said_by)
      return;
    said_by = id;
    says_active = active;
  }

  /// Removes settled events from the front, so that the front is never settled,
  /// and moves `next` accordingly.
  void pop_settled() noexcept {
    while (!queue.empty() && queue.front().at == stage::settled) {
      queue.pop_front();
      next -= next > 0;
    }
  }

  /// Whether the lane is not needed any more.
  bool idle() const noexcept {
    return queue.empty() && !behind() && !looks() && !held && !asked && !ready
           && !due;
  }

  const atproto::did repo;
  const bool facts;
  std::deque<event> queue; ///< Events in the order of ids.
  size_t next = 0;         ///< No event before it waits.
  storage::op_id read_from = 1;
  storage::op_id through = 0;
  /// Begin of the part that is being read; 0: none is.
  storage::op_id began = 0;
  storage::op_id look_from = 1;
  storage::op_id look_through = 0;
  bool says_inactive = false; ///< The last fact found so far says inactive.
  bool looked = false;    ///< It is known what earlier lives sent.
  /// Sent, not settled, and no longer in the queue: late acks still count.
  std::vector<storage::op_id> outstanding;
  uint32_t attempts = 0;    ///< Expired attempts of the first event.
  bool held = false;        ///< The account is not active; the queue is empty.
  bool seen_active = false; ///< It was active at the last sweep.
  bool says_active = false; ///< Content of the last fact that was sent.
  storage::op_id said_by = 0;
  bool ready = false;    ///< It is in the list of lanes with an event to send.
  bool due = false;      ///< It is in the list of lanes that can read a page.
  bool asked = false;    ///< A page of this DID is on its way.
  size_t reserved = 0;   ///< Room in the window for that page.
  size_t remembered = 0; ///< Its part of `parked_max`.
  steady_time retry_at;  ///< It is not read before this time.
  std::optional<steady_time> sleeps_until; ///< A page can be read then.
  storage::op_id first_due
    = 0; ///< Its place in the order of waiting lanes; 0: it has none.
};

/// A lane that waits for a moment. Lanes that wait for the same moment are
/// ordered by their DIDs, because an order by addresses would change with each
/// run.
struct sleeping_lane {
  steady_time until;
  delivery_lane* lane;

  friend bool operator<(const sleeping_lane& a,
                        const sleeping_lane& b) noexcept {
    return std::tie(a.until, a.lane->repo, a.lane->facts)
           < std::tie(b.until, b.lane->repo, b.lane->facts);
  }
};

} // namespace weir::actors
