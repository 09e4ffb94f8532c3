#pragma once

#include "base/clock.hpp"
#include "net/http_types.hpp"

#include <chrono>
#include <optional>
#include <string_view>

namespace weir::net {

/// Seconds since 1970 of an HTTP date in its one modern form (RFC 9110,
/// IMF-fixdate: `Sun, 06 Nov 1994 08:49:37 GMT`).
std::optional<int64_t> parse_http_date(std::string_view x) noexcept;

/// The wait that Retry-After asks for, as seconds or date; at most a day. A
/// date is compared with the answer's own Date. Without one it is compared with
/// `now`, and then the wait is at most `limits::undated_retry_wait_max`.
std::optional<std::chrono::seconds> retry_after(const http_headers& headers,
                                                wall_time now) noexcept;

/// The wait until RateLimit-Reset, given as seconds or as Unix time; computed
/// as for Retry-After.
std::optional<std::chrono::seconds>
rate_limit_reset(const http_headers& headers, wall_time now) noexcept;

} // namespace weir::net
