#pragma once

#include "actors/api/limits.hpp"
#include "atproto/identifiers.hpp"
#include "net/http_messages.hpp"

#include <string>

namespace weir::actors {

/// How a list is sorted, which decides the form of its cursors.
enum class page_order : uint8_t {
  did,   ///< A cursor is the last DID of its page.
  retry, ///< The time of the next attempt: `<seconds>:<DID>`.
  id,    ///< A cursor is the last id.
};

/// The requested page of a list.
struct page_request {
  size_t limit = limits::api_page_default; ///< 1 to `limits::api_page_max`.
  atproto::did after;                      ///< Empty for the first page.
  /// Time of `after`, Unix seconds; for `page_order::retry`.
  uint64_t after_due = 0;
  uint64_t after_id = 0; ///< The same for `page_order::id`.
};

/// Reads `limit` and `cursor`; `ec::invalid_argument` names the wrong one.
result<page_request> parse_page(const net::incoming_request& x,
                                page_order order = page_order::did);

/// Reads `limit` alone.
result<size_t> parse_limit(const net::incoming_request& x);

/// The cursor of `page_order::retry`.
std::string retry_cursor(uint64_t due, const atproto::did& last);

} // namespace weir::actors
