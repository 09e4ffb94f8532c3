#pragma once

#include "actors/api/page_request.hpp"
#include "actors/support/store_readers.hpp"
#include "messages/consumer.hpp"
#include "net/http_server.hpp"
#include "wire/event_numbers.hpp"

#include <string>

namespace weir::actors {

/// Events that this consumer was given up to acknowledge, by id, with what they
/// were about; a page of them. Reads the log once for each.
net::http_reply dead_letters_reply(const store_readers& store,
                                   const wire::event_numbers& numbers,
                                   const std::string& consumer,
                                   const page_request& page);

/// What a body of `/v1/dead-letters/retry` or `/drop` wants.
/// @param body A `text_body`.
/// @param answer Hears what became of it.
result<letters_order> letters_order_of(const net::body_sink& body, bool retry,
                                       const wire::event_numbers& numbers,
                                       net::responder answer);

} // namespace weir::actors
