#pragma once

#include "actors/consumer/delivery_types.hpp"

#include <deque>
#include <list>
#include <memory>
#include <tuple>

namespace weir::actors {

struct delivery_lane;

/// What an operation is for a consumer: nothing that it is sent, a record, or a
/// fact about the account (`$identity`, `$account`).
enum class delivery_kind : uint8_t { implicit, record, fact };

delivery_kind kind_of(const storage::logged_operation& op,
                      const wire::collection_filter& filter) noexcept;

/// A log entry kept for its events; its bytes are on a ledger while it lives.
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

/// An event on its way: sent, not acked.
struct delivery_flight {
  storage::op_id id = 0;
  delivery_lane* lane = nullptr;
  uint64_t number = 0; ///< Of the event on its session.
  steady_time at;
};

using flight_list = std::list<delivery_flight>;

/// One connection of the consumer.
struct delivery_session {
  session_id id = 0;
  flight_list flights; ///< In order of sending.
  uint64_t sent = 0;
  uint64_t acked = 0; ///< Highest number that was acked.
  steady_time last_ack;
  size_t unreported = 0; ///< Sends whose outcome `on_sent` will tell.
  std::optional<steady_time> blocked_until; ///< It took no more.
};

/// One DID's events that are not settled: a queue in memory and, when `behind`,
/// a part of the log that will be read for this DID alone.
///
/// While an account is not active its records and its facts (`$identity`,
/// `$account`) go in lanes of their own, so that facts get through.
struct delivery_lane {
  enum class stage : uint8_t { waiting, sent, settled };

  struct event {
    storage::op_id id = 0;
    held_entry_ptr held; ///< Null once settled.
    uint32_t index = 0;
    uint64_t job = 0; ///< The fetch that brought it; 0: none.
    stage at = stage::waiting;
    bool barrier = false;                ///< Alone in flight, in its DID.
    bool known = false;                  ///< Sent before.
    delivery_session* session = nullptr; ///< While sent.
    flight_list::iterator flight;

    const storage::logged_operation& op() const noexcept {
      return held->get()->ops[index];
    }
  };

  delivery_lane(atproto::did did, bool of_facts)
    : repo(std::move(did)), facts(of_facts) {
    // nop
  }

  /// Events of this DID in [read_from, through] are not in the queue.
  bool behind() const noexcept { return read_from <= through; }

  /// Facts of this DID in [look_from, look_through] may have been sent by an
  /// earlier life, and were not looked at yet.
  bool looks() const noexcept { return look_from <= look_through; }

  void pass(storage::op_id id) noexcept;

  /// An event that was settled is not any more. @pre nothing is in the queue
  void reopen(storage::op_id id) noexcept;

  /// About the first one that waits, never beyond it; 0: none, or none of them
  /// may be delivered.
  storage::op_id first_waiting() const noexcept;

  /// Null when it is not in the queue.
  event* find(storage::op_id id) noexcept;

  /// The event that may be sent next, if any.
  event* next_to_send() noexcept;

  /// An event of the queue is sent, to whatever session.
  bool is_in_flight() const noexcept;

  /// A sent event waits again.
  void take_back(event& x) noexcept;

  /// A fact was sent, in this life or an earlier one.
  void note_fact(storage::op_id id, bool active) noexcept;

  /// The front is never settled; `next` follows.
  void pop_settled() noexcept;

  /// Nothing is left that needs a lane.
  bool idle() const noexcept {
    return queue.empty() && !behind() && !looks() && !held && !asked && !ready
           && !due;
  }

  const atproto::did repo;
  const bool facts;
  std::deque<event> queue; ///< By id.
  size_t next = 0;         ///< No event before it waits.
  storage::op_id read_from = 1;
  storage::op_id through = 0;
  storage::op_id began = 0; ///< Where the part began that is read; 0: none is.
  storage::op_id look_from = 1;
  storage::op_id look_through = 0;
  bool told_away = false; ///< As far as was looked.
  bool looked = false;    ///< What earlier lives sent is known.
  /// Sent, not settled, and no longer in the queue: late acks count.
  std::vector<storage::op_id> outstanding;
  uint32_t attempts = 0;    ///< Of the first event, that ran out of time.
  bool held = false;        ///< The account is not active; the queue is empty.
  bool seen_active = false; ///< When last looked at without a reason.
  bool says_active = false; ///< What the last fact that was sent says.
  storage::op_id said_by = 0;
  bool ready = false;    ///< Among those of which an event can be sent.
  bool due = false;      ///< Among those whose page can be asked for.
  bool asked = false;    ///< A page of this DID is on its way.
  size_t reserved = 0;   ///< Room in the window for that page.
  size_t remembered = 0; ///< Its share of `parked_max`.
  steady_time retry_at;  ///< Not read before.
  std::optional<steady_time> sleeps_until; ///< Then a page can.
  storage::op_id first_due
    = 0; ///< As the order of waiting lanes has it; 0: it is not there.
};

/// A lane that waits for a moment. Lanes that wait for the same moment are
/// ordered by their DIDs. Their addresses would be another order in each run.
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
