#pragma once

#include "messages/journal.hpp"
#include "storage/format/log_entry.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace weir::actors {
class ack_inbox;
class event_channel;
} // namespace weir::actors

namespace weir {

/// Entries of the log, in order.
using log_entries = std::vector<storage::log_entry_ptr>;

/// The next page of the log, up to the durable id of that time.
/// From: READER. To: CONSUMER.
struct log_page {
  result<log_entries> entries;
};

/// Entries of one DID after `after`, without a hole. `end` is set when there
/// are no more up to `through`. From: READER. To: CONSUMER.
struct did_page {
  atproto::did repo;
  bool facts = false; ///< Only `$identity` and `$account` were requested.
  storage::op_id after = 0;
  storage::op_id through = 0;
  result<log_entries> entries{};
  bool end = true;
};

/// A client has connected. From: api. To: CONSUMER.
struct channel_opened {
  uint64_t session = 0;
  std::shared_ptr<actors::event_channel> channel;
  std::shared_ptr<actors::ack_inbox> acks;
};

/// An `actors::ack_inbox` has acks. From: api. To: CONSUMER.
struct acks_waiting {};

/// A message of the client that is no ack. From: api. To: CONSUMER.
struct channel_refused {
  std::string reason;
};

/// The connection has ended. From: api. To: CONSUMER.
struct channel_closed {
  uint64_t session = 0;
};

/// The result of a `letters_order`. Each of its dead letters is in one list.
/// From: CONSUMER. To: API.
struct letters_report {
  std::vector<storage::op_id> done; ///< They were delivered again or dropped.
  /// They were removed and not delivered again, since a later event replaces
  /// them.
  std::vector<storage::op_id> outdated;
  std::vector<storage::op_id> unknown; ///< They are no dead letters.
  std::vector<storage::op_id> left;    ///< There is no room for them now.
  storage::op_id next = 0; ///< Continue after this one; 0 at the end.
};

/// An order to deliver dead letters of a partition again or to drop them: those
/// in `ids`, or with `all` up to `most` of them. Answered by `letters_report`
/// when it is durable. From: API. To: CONSUMER.
struct letters_order {
  bool retry = false; ///< False: drop them.
  std::vector<storage::op_id> ids; ///< Without duplicates.
  bool all = false;
  std::optional<atproto::did> repo; ///< With `all`: only of this repo.
  storage::op_id after = 0;         ///< With `all`: only those after this one.
  size_t most = 0;
};

/// A dead letter as it is stored.
struct found_letter {
  storage::op_id id = 0;
  storage::log_entry_ptr entry; ///< Its entry; null if no longer in the log.
  /// No later event is about the same record or the account.
  bool current = false;
};

/// The dead letters of an order. `current` is valid when `judged` is set.
/// From: READER. To: CONSUMER.
struct letters_found {
  bool judged = false;
  result<std::vector<found_letter>> letters;
  std::vector<storage::op_id> unknown;
  storage::op_id next = 0;
};

/// Entries of the log from operation `id` on, up to `through`. The CONSUMER
/// looks for the oldest event that is still to be delivered.
/// From: READER. To: CONSUMER.
struct unread_log {
  storage::op_id id = 0;
  storage::op_id through = 0;
  result<log_entries> entries;
};

} // namespace weir
