#pragma once

#include "actors/upstream/upstream.hpp"
#include "net/ws_client.hpp"

namespace weir::actors {

/// The dialer over real sockets: WebSocket frames of
/// `com.atproto.sync.subscribeRepos` become messages.
/// @param options Guard, TLS and limits; target and headers are filled in.
stream_dialer make_stream_dialer(net::transport_ptr network,
                                 net::ws_client_options options);

} // namespace weir::actors
