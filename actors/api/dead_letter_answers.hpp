#pragma once

#include "actors/api/page_request.hpp"
#include "actors/support/store_readers.hpp"
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

} // namespace weir::actors
