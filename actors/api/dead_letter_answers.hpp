#pragma once

#include "actors/api/page_request.hpp"
#include "actors/support/context.hpp"
#include "messages/consumer.hpp"
#include "net/http_server.hpp"

#include <map>
#include <string>

namespace weir::actors {

/// One page of the dead letters of this consumer, by id, with the subject of
/// each. Reads the log once for each letter.
net::http_reply dead_letters_reply(const context& shared,
                                   const std::string& consumer,
                                   const page_request& page);

/// The orders in a body of `/v1/dead-letters/retry` or `/drop`, by partition.
/// @param body A `text_body`.
/// @param answer Called with the result of all orders.
result<std::map<uint16_t, letters_order>>
letters_orders_of(const net::body_sink& body, bool retry,
                  const context_ptr& shared, net::responder answer);

} // namespace weir::actors
