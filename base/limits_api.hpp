#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

/// Bounds of what clients may ask a node for, beside those of limits.hpp.
namespace weir::limits {

using namespace std::chrono_literals;

/// `/resolve`: the part of `plc_per_second` that clients may spend, those who
/// may wait for a look-up at one time, and how long each of them waits.
constexpr double resolve_share = 0.25;
constexpr size_t resolve_waiting_max = 64;
constexpr auto resolve_wait = 30s;

/// Connections to a server whose client has not shown yet that it may ask: of
/// all clients, and of one network (/24 of IPv4, /64 of IPv6).
constexpr size_t http_server_strangers_max = 768;
constexpr size_t http_server_per_network_max = 128;
/// The answer to a wrong password comes so late.
constexpr auto auth_failure_delay = 1s;
/// Addresses with wrong passwords that the log names within an `auth_lock`.
constexpr size_t auth_lines_max = 20;

/// Channels beyond their limits that the log names, and within how long a time.
constexpr uint64_t channel_lines_max = 20;
constexpr auto channel_lines_interval = 1min;

/// Dead letters that one request reads and decides on: each costs some reads of the
/// log and of the record that is there now, on a thread that others wait for.
constexpr size_t dead_letters_order_max = 256;
/// So many ids of 16 digits, a DID and a cursor have room in its body.
constexpr size_t dead_letters_body_bytes_max = 8'192;
/// Such requests that wait for each other; one more is refused.
constexpr size_t dead_letters_orders_max = 16;

} // namespace weir::limits
