#pragma once

#include "actors/api/limits.hpp"
#include "atproto/identifiers.hpp"
#include "net/http_messages.hpp"
#include "wire/log_position.hpp"

#include <optional>
#include <string>

/// Reads the parameters of the routes for operations and records. Each function
/// returns `ec::invalid_argument` or `ec::malformed` with a sentence that names
/// the wrong one.
namespace weir::actors {

/// A scope: the NSID of a collection, or `$commit`, `$identity`, `$account`.
result<std::string> parse_scope(const std::string& text);

/// An index of an operation in its stream.
result<uint64_t> parse_index(const std::string& text);

/// `content`: whether the records themselves are wanted; by default they are.
result<bool> parse_content(const net::incoming_request& x);

/// `GET /v1/ops`.
struct log_request {
  std::optional<wire::log_position> since; ///< Nothing: from the beginning.
  std::optional<atproto::did> repo;
  std::string scope; ///< Empty: all.
  size_t limit = limits::api_page_default;
  bool with_content = true;
};

result<log_request> parse_log_request(const net::incoming_request& x);

/// `GET /v1/repos/:did/ops`.
struct stream_request {
  std::string scope;
  std::optional<uint64_t> since; ///< An index; nothing: from the beginning.
  std::optional<int64_t> since_ms;
  size_t limit = limits::api_page_default;
  bool with_content = true;
};

result<stream_request> parse_stream_request(const net::incoming_request& x);

/// `GET /v1/repos/:did/records`.
struct records_request {
  std::string collection; ///< Empty: all.
  /// The path after which the page begins; both empty: the first page.
  std::string after_collection;
  std::string after_rkey;
  size_t limit = limits::api_page_default;
  bool with_content = true;
};

result<records_request> parse_records_request(const net::incoming_request& x);

} // namespace weir::actors
