#pragma once

#include "actors/api/channel_places.hpp"
#include "messages/interfaces.hpp"
#include "net/http_server.hpp"

namespace weir::actors {

/// Accepts a `/channel` upgrade and joins it to the CONSUMER. Before the node
/// is ready the connection is cut, so that clients try again
/// (api.md, GET /channel).
/// @param place Held until the channel is over.
void open_channel(const consumer_actor& to, const net::upgrader& answer,
                  channel_places::place_ptr place);

} // namespace weir::actors
