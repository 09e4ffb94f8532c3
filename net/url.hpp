#pragma once

#include "base/error.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace weir::net {

enum class scheme : uint8_t { http, https, ws, wss };

/// `http`, `https`, `ws` or `wss`.
std::string_view to_string(scheme x) noexcept;

/// An absolute URL of the four schemes we speak, in normal form: host in lower
/// case, port always set, target never empty, no fragment, no user info.
struct url {
  net::scheme scheme = scheme::https;
  std::string host; ///< A name, or an address without brackets.
  uint16_t port = 443;
  std::string target = "/"; ///< Path and query as they go on the wire.

  friend bool operator==(const url&, const url&) = default;

  /// https or wss.
  bool secure() const noexcept {
    return scheme == net::scheme::https || scheme == net::scheme::wss;
  }

  /// The port that the scheme implies.
  uint16_t default_port() const noexcept { return secure() ? 443 : 80; }

  /// Value of the Host header: without the default port, IPv6 in brackets.
  std::string authority() const;

  /// `scheme://authority`: equal origins compare equal as text.
  std::string origin() const;

  /// This URL with ws instead of http and wss instead of https, and back.
  url as_websocket() const;
  url as_http() const;

  /// This URL with another target, which must start with '/'.
  url with_target(std::string x) const;
};

std::string to_string(const url& x);

/// Parses an absolute URL (RFC 3986), at most `limits::url_bytes_max` bytes.
/// User info, other schemes, empty or percent-encoded hosts, port 0 and spaces
/// are refused with `ec::invalid_argument`.
result<url> parse_url(std::string_view text);

/// For messages: puts three dots in place of what stands before the @ of a URL,
/// such as a password. `text` need not be a valid URL.
std::string without_user(std::string_view text);

/// Resolves a Location header against the URL that was asked for.
result<url> resolve_reference(const url& base, std::string_view reference);

/// Encodes everything but unreserved characters (RFC 3986) as %XX.
std::string percent_encode(std::string_view x);

/// Decodes once. Error: `ec::malformed` for a bad or cut-off %XX, and for NUL,
/// encoded or not.
/// @param plus_is_space Reads '+' as a space, as forms write it in queries.
result<std::string> percent_decode(std::string_view x,
                                   bool plus_is_space = false);

/// Appends `?name=value`, or `&name=value` when there is a query. Encodes both.
void append_query(std::string& target, std::string_view name,
                  std::string_view value);

} // namespace weir::net
