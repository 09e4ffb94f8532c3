#pragma once

#include "messages/interfaces.hpp"
#include "net/http_server.hpp"

namespace weir::actors {

/// Accepts a `/channel` upgrade and joins it to the CONSUMER. Before the node
/// is ready the connection is cut, so that clients try again
/// (real-network.md 2).
void open_channel(const consumer_actor& to, const net::upgrader& answer);

} // namespace weir::actors
