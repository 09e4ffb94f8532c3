#pragma once

#include "actors/api/channel_places.hpp"
#include "actors/support/context.hpp"
#include "net/http_server.hpp"

namespace weir::actors {

/// Accepts a `/channel` upgrade and connects it to the CONSUMERs of all
/// partitions: each sends its events, and each ack goes to the CONSUMER whose
/// event it names. Before the node is ready the connection is cut, so that
/// clients try again (api.md, GET /channel).
/// @param place Kept until the channel ends.
void open_channel(const context& shared, const net::upgrader& answer,
                  channel_places::place_ptr place);

} // namespace weir::actors
