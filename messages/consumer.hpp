#pragma once

#include "messages/journal.hpp"
#include "storage/format/log_entry.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace weir {

/// A page of the log after `after`, up to what was durable.
///
/// From: READER. To: CONSUMER. Travels: local only.
struct log_page {
  error failed;
  storage::op_id after = 0;
  std::vector<storage::log_entry_ptr> entries;
};

/// Entries of one DID after `after`; `end` when there are no more up to
/// `through`.
///
/// From: READER. To: CONSUMER. Travels: local only.
struct did_page {
  error failed;
  atproto::did repo;
  bool facts = false; ///< Only `$identity` and `$account` were asked for.
  storage::op_id after = 0;
  storage::op_id through = 0;
  std::vector<storage::log_entry_ptr> entries;
  bool end = true;
};

/// A client's socket, as far as a CONSUMER needs it. Any thread.
class event_channel {
public:
  virtual ~event_channel() = default;

  /// False: the queue is full; `on_drained` is not needed, the CONSUMER's
  /// window is smaller than the queue.
  virtual bool send(std::string_view text) = 0;

  /// Ends it without a close frame, so that clients reconnect.
  virtual void cut() = 0;
};

/// From: api. To: CONSUMER. Travels: local only.
struct channel_opened {
  uint64_t session = 0;
  std::shared_ptr<event_channel> channel;
};

/// One message of the client: an ack. From: api. To: CONSUMER.
struct channel_text {
  uint64_t session = 0;
  std::string text;
};

/// From: api. To: CONSUMER. Travels: local only.
struct channel_closed {
  uint64_t session = 0;
};

/// What became of the dead letters of a `letters_order`, each in one list.
struct letters_report {
  std::vector<storage::op_id> done; ///< Delivered again, or dropped.
  /// Not delivered again, since a later event says more; forgotten.
  std::vector<storage::op_id> outdated;
  std::vector<storage::op_id> unknown; ///< No dead letters.
  std::vector<storage::op_id> left;    ///< There is no room for them now.
  storage::op_id next = 0; ///< There may be more behind this one; 0: there are not.
};

/// Somebody wants dead letters delivered again, or dropped: those that are named,
/// or of all there are at most `limits::dead_letters_order_max`. What the answer
/// says is durable.
///
/// From: API. To: CONSUMER. Travels: local only.
struct letters_order {
  bool retry = false; ///< Else they are dropped.
  std::vector<storage::op_id> ids; ///< Each once.
  bool all = false;
  std::optional<atproto::did> repo; ///< With `all`: only of this one.
  storage::op_id after = 0;         ///< With `all`: behind this one.
  std::function<void(const result<letters_report>&)> answer; ///< Once.
};

/// A dead letter as the store has it.
struct found_letter {
  storage::op_id id = 0;
  storage::log_entry_ptr entry; ///< That holds it; null: the log has it no more.
  /// Nothing that was logged later tells of the same record, or of the account.
  bool current = false;
};

/// The dead letters of an order; `judged`: `current` says something.
///
/// From: READER. To: CONSUMER. Travels: local only.
struct letters_found {
  error failed;
  bool judged = false;
  std::vector<found_letter> letters;
  std::vector<storage::op_id> unknown;
  storage::op_id next = 0;
};

/// What the log has from an operation on, and how far it was asked for: whether
/// one of them is due, and since when.
///
/// From: READER. To: CONSUMER. Travels: local only.
struct unread_log {
  storage::op_id id = 0;
  storage::op_id through = 0;
  std::vector<storage::log_entry_ptr> entries;
  bool failed = false; ///< The log could not be read.
};

} // namespace weir

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(weir::letters_order)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(weir::letters_found)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(weir::unread_log)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(weir::log_page)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(weir::did_page)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(weir::channel_opened)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(weir::channel_text)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(weir::channel_closed)
