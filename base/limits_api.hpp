#pragma once

#include <chrono>
#include <cstddef>

/// Bounds of what clients may ask a node for, beside those of limits.hpp.
namespace weir::limits {

using namespace std::chrono_literals;

/// `/resolve`: the part of `plc_per_second` that clients may spend, those who
/// may wait for a look-up at one time, and how long each of them waits.
constexpr double resolve_share = 0.25;
constexpr size_t resolve_waiting_max = 64;
constexpr auto resolve_wait = 30s;

} // namespace weir::limits
