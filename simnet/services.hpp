#pragma once

#include "net/http_server.hpp"
#include "simnet/event_log.hpp"
#include "simnet/site.hpp"

/// What the servers of a network answer. All services borrow the site, which
/// outlives them; any thread may call them.
namespace weir::simnet {

/// One host: repositories, records, handles, and the stream of its accounts. It
/// answers as the reference server does.
std::shared_ptr<net::http_service> make_pds_service(const site& where,
                                                    size_t host);

/// The directory of DIDs. It also resolves handles of `.test`, which exist
/// nowhere else: by XRPC, and by `/.well-known/atproto-did` with the handle in
/// the Host header.
/// @param epoch When the first account entered the directory. Each further
/// account entered a millisecond later.
std::shared_ptr<net::http_service> make_plc_service(const site& where,
                                                    wall_time epoch);

/// The relay: one stream of the events of all hosts, and lists of repositories
/// and hosts. It redirects requests for a repository to its host.
/// @pre the network has a relay
std::shared_ptr<net::http_service> make_relay_service(const site& where);

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
