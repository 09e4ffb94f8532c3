#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

/// Limits of `net`: the value itself is allowed, value + 1 is not.
namespace weir::limits {

using namespace std::chrono_literals;

constexpr size_t url_bytes_max = 8'192;
constexpr auto dns_timeout = 3s;
constexpr size_t dns_answers_max = 8;
constexpr size_t dns_answer_bytes_max = 4'096;
constexpr size_t dns_queries_max = 1'024; ///< In flight or waiting, in all.

/// Unsent bytes that the kernel may hold for one connection. More waits in our
/// own queues, which are bounded and counted.
constexpr int tcp_unsent_bytes_max = 131'072;

/// The pause after an accept that failed, as when no descriptors are left.
constexpr auto accept_pause = 100ms;
constexpr auto connect_timeout = 5s;
constexpr auto tls_timeout = 10s;
constexpr auto first_byte_timeout = 15s;
constexpr size_t http_response_bytes_default = 1'048'576;
constexpr size_t http_response_head_bytes_max = 16'384;
constexpr auto http_total_timeout = 60s;

constexpr uint64_t http_bytes_per_second_min = 16'384;
constexpr auto http_rate_window = 30s;
constexpr unsigned http_redirects_max = 3;

/// Most informational answers (1xx) before the real one.
constexpr unsigned http_interims_max = 8;

/// One line between chunks, and all lines of a trailer.
constexpr size_t http_chunk_line_bytes_max = 256;
constexpr size_t http_trailer_bytes_max = 8'192;
constexpr std::chrono::seconds retry_wait_max = 24h; ///< For Retry-After.
constexpr size_t http_connections_per_origin_max = 8;
constexpr size_t http_waiting_calls_max = 1'024;
constexpr auto http_client_idle_timeout = 30s;
constexpr size_t http_idle_connections_max = 64;
constexpr size_t http_request_head_bytes_max = 8'192;
constexpr size_t http_request_fields_max = 64;
constexpr size_t http_request_body_bytes_default = 1'048'576;
constexpr size_t http_server_connections_max = 1'024;
constexpr size_t http_server_per_address_max = 64;
constexpr auto http_server_head_timeout = 10s;
constexpr auto http_server_body_timeout = 30s;
constexpr auto http_server_idle_timeout = 60s;

/// Time and bytes that a refused client gets to send on and read the refusal.
constexpr auto http_linger_timeout = 2s;
constexpr size_t http_linger_bytes_max = 4'194'304;

/// Most messages handed over at once (actors.md, Rules: batches of 16 to 256).
constexpr size_t ws_batch_frames_max = 64;
constexpr auto ws_ping_interval = 30s;
constexpr auto ws_client_idle_timeout = 75s;
constexpr size_t ws_client_queue_max = 1'024;
constexpr size_t ws_client_queue_bytes_max = 1'048'576;
constexpr size_t ws_queue_messages_max = 1'024;
constexpr size_t ws_queue_bytes_max = 8'388'608;
constexpr size_t ws_incoming_bytes_max = 65'536;
constexpr double ws_frames_per_second_max = 1'000;
constexpr double ws_control_per_minute_max = 100;
constexpr auto ws_session_ping_interval = 25s;
constexpr auto ws_session_idle_timeout = 90s;
constexpr auto ws_stall_timeout = 30s;

constexpr auto ws_close_timeout = 5s;

/// Connections of clients that are still strangers (`connection_places`): of
/// all of them, and of one network (/24 of IPv4, /64 of IPv6).
constexpr size_t http_server_strangers_max = 768;
constexpr size_t http_server_per_network_max = 128;

/// The longest wait until a point in time that is given without a Date. Then
/// only our own clock can judge it, and that clock may be wrong.
constexpr std::chrono::minutes undated_retry_wait_max{5};

} // namespace weir::limits
