#pragma once

#include "simnet/faults.hpp"

#include <boost/json/fwd.hpp>

#include <string_view>

namespace weir::simnet {

/// Reads a non-negative integer. Returns nothing when the member is something
/// else.
std::optional<int64_t> read_count(const boost::json::object& x,
                                  const char* name, int64_t fallback);

/// Reads a fault in the form that the control interface and flags use:
///
///   {"kind", "did"?, "host"?, "count"?, "time_ms"?, "for_ms"?, "rate"?,
///    "handle"?, "target"?, "silent"?}
///
/// Without `host`, or with "relay", it is about the relay; for requests, about
/// all hosts. Errors: `invalid_argument`.
result<fault> read_fault(const boost::json::object& x);
result<fault> read_fault(std::string_view text);

} // namespace weir::simnet
