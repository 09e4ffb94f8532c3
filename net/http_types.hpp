#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace weir::net {

/// One header field. Received names are in lower case.
struct http_header {
  std::string name;
  std::string value;
};

/// Header fields in the order of the wire.
using http_headers = std::vector<http_header>;

/// The first value of `name` (any case), or null.
const std::string* find_header(const http_headers& headers,
                               std::string_view name) noexcept;

/// Whether two texts are equal except for the case of ASCII letters.
bool same_text(std::string_view x, std::string_view y) noexcept;

/// Returns `x` with its ASCII letters in lower case.
std::string lower_case(std::string_view x);

/// Whether a comma-separated list (Connection, Upgrade) names `token`.
bool lists_token(std::string_view list, std::string_view token) noexcept;

/// Whether `name` can be a header name or method, and `value` a header value
/// (no control bytes).
bool is_token(std::string_view name) noexcept;
bool is_header_value(std::string_view value) noexcept;

} // namespace weir::net
