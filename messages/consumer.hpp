#pragma once

#include "messages/journal.hpp"
#include "storage/log_entry.hpp"

#include <memory>
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

} // namespace weir

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(weir::log_page)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(weir::did_page)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(weir::channel_opened)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(weir::channel_text)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(weir::channel_closed)
