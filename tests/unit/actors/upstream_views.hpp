#pragma once

#include "actors/support/upstream_view.hpp"

#include <cstdint>
#include <string>
#include <utility>

/// Streams in the form in which a REPO sees them.
namespace weir::tests {

inline constexpr uint32_t relay_id = 1;
inline constexpr uint32_t pds_id = 2;
inline constexpr uint32_t other_pds_id = 3;

/// A stream that is connected and has delivered everything.
inline actors::upstream_view quiet_upstream(uint32_t id, std::string origin,
                                            uint32_t epoch,
                                            uint64_t first_cursor) {
  actors::upstream_view out;
  out.id = id;
  out.origin = std::move(origin);
  out.relay = id == relay_id;
  out.epoch = epoch;
  out.first_cursor = first_cursor;
  out.connected = true;
  out.quiet_since = steady_time{};
  return out;
}

/// The same for a stream that is not connected.
inline actors::upstream_view away_upstream(uint32_t id, std::string origin) {
  auto out = quiet_upstream(id, std::move(origin), 1, 1);
  out.connected = false;
  return out;
}

} // namespace weir::tests
