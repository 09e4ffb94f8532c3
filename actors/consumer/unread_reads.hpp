#pragma once

#include "actors/consumer/delivery_types.hpp"
#include "messages/interfaces.hpp"
#include "messages/journal.hpp"

namespace weir::actors {

/// A job for a READER: reads the log from the oldest event on and sends it to
/// its CONSUMER as `unread_log`. It reads a page while it is not known whether
/// the event may be delivered, otherwise only its transaction.
reader_job read_unread(const oldest_event& x, storage::op_id durable,
                       consumer_actor to);

} // namespace weir::actors
