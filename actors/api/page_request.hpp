#pragma once

#include "atproto/identifiers.hpp"
#include "base/limits.hpp"
#include "net/http_server.hpp"

namespace weir::actors {

/// Which page of a list is asked for.
struct page_request {
  size_t limit = limits::api_page_default; ///< 1 to `limits::api_page_max`.
  atproto::did after;                      ///< Empty: from the start.
};

/// Reads `limit` and `cursor`; `ec::invalid_argument` says which one is wrong.
result<page_request> parse_page(const net::incoming_request& x);

} // namespace weir::actors
