#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

/// Limits of `actors/api`: the value itself is allowed, value + 1 is not.
namespace weir::limits {

using namespace std::chrono_literals;

/// Wrong passwords allowed for one address, the time for which further ones are
/// then delayed, and the number of addresses that are remembered.
constexpr size_t auth_failures_max = 10;
constexpr auto auth_lock = 1min;
constexpr size_t auth_peers_max = 10'000;
constexpr size_t bulk_body_bytes_max = 8'388'608; ///< hostile-inputs.md 2.2.6
constexpr size_t api_page_max = 1'000; ///< Repos in one page of a listing.
constexpr size_t api_page_default = 100;
/// Bytes of records in one page of operations or records; one record alone may
/// be larger. Each connection may have one such answer that its client does not
/// take, so this is about as much as the largest page of repos.
constexpr size_t api_page_bytes_max = 262'144;

/// Acks a second of one client; above this rate the socket is read more slowly.
constexpr double channel_acks_per_second_max = 50'000;

/// WebSocket channels of all clients together, and of one address.
constexpr size_t channels_max = 128;
constexpr size_t channels_per_address_max = 16;

/// `/resolve`: the part of `plc_per_second` that clients may use, the number of
/// clients that may wait for a look-up at the same time, and how long each
/// waits.
constexpr double resolve_share = 0.25;
constexpr size_t resolve_waiting_max = 64;
constexpr auto resolve_wait = 30s;

/// Delay of the answer to a wrong password.
constexpr auto auth_failure_delay = 1s;

/// Addresses with wrong passwords that the log names within one `auth_lock`.
constexpr size_t auth_lines_max = 20;

/// Refused channels that the log names, and the time in which it names that
/// many.
constexpr uint64_t channel_lines_max = 20;
constexpr auto channel_lines_interval = 1min;

/// Size of a body about dead letters: about `dead_letters_order_max` ids of 16
/// digits, a DID and a cursor fit.
constexpr size_t dead_letters_body_bytes_max = 8'192;

/// Bytes of the body of `POST /backup`: one path, which a system bounds to
/// 4,096 bytes.
constexpr size_t backup_body_bytes_max = 8'192;

/// How long a channel may stall: a consumer's handlers may take a minute or two
/// (ADR 7, 8).
constexpr auto channel_stall_timeout = 3min;

} // namespace weir::limits
