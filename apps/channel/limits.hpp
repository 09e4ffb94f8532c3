#pragma once

#include <chrono>
#include <cstddef>

/// Limits of `apps/channel`: the value itself is allowed, value + 1 is not.
namespace weir::limits {

using namespace std::chrono_literals;

/// Bytes of events on their way to one application, as the node sends at most
/// at once, and the wait until acks that found the socket full are sent.
constexpr size_t channel_window_bytes = 8'388'608;
constexpr auto channel_flush_delay = 1ms;

} // namespace weir::limits
