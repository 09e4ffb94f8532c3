#pragma once

#include "actors/consumer/acked_set.hpp"
#include "actors/consumer/limits.hpp"
#include "actors/support/account_board.hpp"
#include "actors/support/limits.hpp"
#include "base/clock.hpp"
#include "messages/consumer.hpp"
#include "storage/format/log_entry.hpp"
#include "storage/tables/limits.hpp"
#include "wire/filter.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

/// Events and effects of delivery to one consumer: plain values.
namespace weir::actors {

struct delivery_options {
  wire::collection_filter filter;
  /// An event counts as acked as soon as a socket took it.
  bool fire_and_forget = false;
  size_t events_max = limits::consumer_events_max;
  size_t bytes_max = limits::consumer_bytes_max;
  size_t did_events_max = limits::consumer_did_events_max;
  size_t parked_max = limits::consumer_parked_max;
  size_t ranges_max = limits::consumer_ranges_max;
  std::chrono::microseconds retry_timeout = limits::consumer_retry_timeout;
  uint32_t attempts_max = limits::consumer_attempts_max; ///< 0: no limit.
  std::chrono::microseconds patience = limits::consumer_patience;
};

/// The stored state of a consumer.
struct delivery_state {
  op_id position = 0;
  std::vector<storage::acked_range> acked;
  /// Last durable operation. A consumer that ran before may have been sent
  /// anything up to here, so acks for these ids count.
  op_id durable = 0;
  bool ran_before = false;
  uint64_t log_events = 0;   ///< Events of the log up to `durable`.
  uint64_t settled = 0;      ///< Settled events according to the row.
  uint64_t dead_letters = 0; ///< Those that are kept now.
  op_id current_before = 1;  ///< As in its row.
};

using session_id = uint64_t;

/// An event that will not be delivered any more.
struct dead_letter {
  op_id id = 0;
  std::string did;
  std::string uri; ///< Empty when it is about no record.
  uint32_t attempts = 0;
  std::string reason;
};

inline dead_letter letter_of(const atproto::did& repo, op_id id,
                             const storage::logged_operation& op,
                             uint32_t attempts, std::string reason) {
  auto did = repo.str();
  auto uri = storage::subject_of(repo, op);
  if (uri == did)
    uri.clear();
  return {id, std::move(did), std::move(uri), attempts, std::move(reason)};
}

/// An order about a dead letter, with what the store knows of it.
struct letter_wish {
  enum class fate : uint8_t {
    deliver,  ///< It is to be delivered again.
    outdated, ///< A later event replaces it: it is removed.
    drop,     ///< It is removed without delivery.
  };

  op_id id = 0;
  /// The entry that contains it; null: no longer in the log.
  storage::log_entry_ptr entry;
  fate what = fate::drop;
};

/// The event that has waited longest, among those that may be delivered.
struct oldest_event {
  op_id id = 0;           ///< 0: no event waits.
  int64_t written_us = 0; ///< Log time; 0: the log must be read for it.
  /// The event was not read yet, so it may turn out not to be deliverable.
  bool unread = false;
};

/// What the actor carries out, in this order.
struct delivery_effects {
  /// Encode operation `index` of `entry` and hand it to the session.
  struct send {
    session_id to = 0;
    op_id id = 0;
    storage::log_entry_ptr entry;
    size_t index = 0;
    bool again = false; ///< The event was sent before.

    const storage::logged_operation& op() const noexcept {
      return entry->ops[index];
    }
  };

  /// Asks for the log of one DID after `after`, whole transactions with bodies:
  /// `ops_max` operations and `limits::consumer_did_page_bytes_max` are enough.
  struct did_wish {
    atproto::did repo;
    bool facts = false; ///< Only `$identity` and `$account` are needed.
    op_id after = 0;
    op_id through = 0; ///< Durable end of the log.
    size_t ops_max = 0;
  };

  /// One atomic write. No other write begins until it is durable.
  struct write : acked_set::delta {
    std::vector<op_id> letters_gone; ///< Erase these before `letters`.
    std::vector<dead_letter> letters;
    uint64_t settled = 0;      ///< Number of settled events.
    uint64_t dead_letters = 0; ///< Number of dead letter rows after it.
  };

  std::vector<send> sends; ///< If any, call `on_sent` before all else.
  /// Asks for the log after this operation, whole transactions with bodies: at
  /// most `limits::log_page_ops_max` and `log_page_bytes_max`, but at least
  /// one. Answer with `on_page`.
  std::optional<op_id> page_after;
  std::vector<did_wish> did_pages;  ///< Answer each with `on_did_page`.
  std::optional<write> rows;        ///< Answer with `on_durable_rows`.
  std::optional<steady_time> timer; ///< Call `on_timer` then; replaces the
                                    ///< one before; none = no timer.
};

/// The socket of a session took the first `taken` of its last sends.
struct sent_report {
  session_id to = 0;
  size_t taken = 0;
};

/// Counters since start; metrics show them.
struct delivery_counters {
  uint64_t sent = 0;
  uint64_t resent = 0;
  uint64_t acked = 0;
};

} // namespace weir::actors
