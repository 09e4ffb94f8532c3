#pragma once

#include "net/http_server.hpp"
#include "simnet/alarms.hpp"
#include "simnet/event_log.hpp"

namespace weir::simnet {

/// Accepts a client of subscribeRepos. It is sent the events of a log after its
/// cursor, as fast as it reads. As on real servers, the cursor is exclusive
/// (protocol-coverage.md 1.9); a client gets #info when the window has passed
/// its cursor, and FutureCursor beyond the newest event. All work is done on
/// the loop of `time`.
/// @param log Outlives the session.
void open_subscription(const net::incoming_request& request,
                       const net::upgrader& answer, event_log& log,
                       const std::shared_ptr<alarms>& time);

} // namespace weir::simnet
