#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

/// Bounds that `actors/api` keeps. A name says the thing and the unit.
/// The value itself is accepted; value + 1 is refused.
namespace weir::limits {

using namespace std::chrono_literals;

/// Wrong passwords of an address, its lock-out, addresses that are remembered.
constexpr size_t auth_failures_max = 10;
constexpr auto auth_lock = 1min;
constexpr size_t auth_peers_max = 10'000;
constexpr size_t bulk_body_bytes_max = 8'388'608; ///< hostile-inputs.md 2.2.6
constexpr size_t api_page_max = 1'000; ///< Repos of a listing answer.
constexpr size_t api_page_default = 100;

/// Acks of one client; above it the socket is read more slowly.
constexpr double channel_acks_per_second_max = 50'000;

/// WebSocket channels of all clients, and of one address.
constexpr size_t channels_max = 128;
constexpr size_t channels_per_address_max = 16;

/// `/resolve`: the part of `plc_per_second` that clients may spend, those who
/// may wait for a look-up at one time, and how long each of them waits.
constexpr double resolve_share = 0.25;
constexpr size_t resolve_waiting_max = 64;
constexpr auto resolve_wait = 30s;

/// The answer to a wrong password comes so late.
constexpr auto auth_failure_delay = 1s;

/// Addresses with wrong passwords that the log names within an `auth_lock`.
constexpr size_t auth_lines_max = 20;

/// Channels beyond their limits that the log names, and within how long a time.
constexpr uint64_t channel_lines_max = 20;
constexpr auto channel_lines_interval = 1min;

/// So many ids of 16 digits, a DID and a cursor have room in its body.
constexpr size_t dead_letters_body_bytes_max = 8'192;

/// Of a consumer: its handlers may take a minute or two (ADR 7, 8).
constexpr auto channel_stall_timeout = 3min;

} // namespace weir::limits
