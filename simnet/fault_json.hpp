#pragma once

#include "simnet/faults.hpp"

#include <boost/json/fwd.hpp>

#include <string_view>

namespace weir::simnet {

/// A non-negative integer; none when it is something else.
std::optional<int64_t> read_count(const boost::json::object& x,
                                  const char* name, int64_t fallback);

/// Empty when it is absent or something else.
std::string read_text(const boost::json::object& x, const char* name);

/// A fault as people write it, in the control interface and in flags:
///
///   {"kind", "did"?, "host"?, "count"?, "time_ms"?, "for_ms"?, "rate"?,
///    "handle"?, "target"?, "silent"?}
///
/// `host` absent or "relay": the relay; for requests: all hosts.
/// Errors: `invalid_argument`.
result<fault> read_fault(const boost::json::object& x);
result<fault> read_fault(std::string_view text);

} // namespace weir::simnet
