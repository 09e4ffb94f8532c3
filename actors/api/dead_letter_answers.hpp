#pragma once

#include "actors/api/page_request.hpp"
#include "actors/support/context.hpp"
#include "messages/consumer.hpp"
#include "net/http_server.hpp"

#include <map>
#include <string>

namespace weir::actors {

/// Events that this consumer was given up to acknowledge, by id, with what they
/// were about; a page of them. Reads the log once for each.
net::http_reply dead_letters_reply(const context& shared,
                                   const std::string& consumer,
                                   const page_request& page);

/// What a body of `/v1/dead-letters/retry` or `/drop` wants, by partition.
/// @param body A `text_body`.
/// @param answer Hears what became of all of them.
result<std::map<uint16_t, letters_order>>
letters_orders_of(const net::body_sink& body, bool retry,
                  const context_ptr& shared, net::responder answer);

} // namespace weir::actors
