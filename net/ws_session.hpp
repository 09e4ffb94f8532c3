#pragma once

#include "net/ip_address.hpp"
#include "net/limits.hpp"
#include "net/ws_message.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string_view>

namespace weir::net {

struct ws_session_options {
  /// Bounds of the outgoing queue. One message of any size fits an empty queue.
  size_t queue_messages_max = limits::ws_queue_messages_max;
  size_t queue_bytes_max = limits::ws_queue_bytes_max;
  /// Largest incoming message; one byte more closes with 1009.
  size_t message_bytes_max = limits::ws_incoming_bytes_max;
  /// Incoming data frames; above it the socket is read more slowly.
  double frames_per_second_max = limits::ws_frames_per_second_max;
  /// Incoming pings and pongs; above it the connection is closed with 1008.
  double control_per_minute_max = limits::ws_control_per_minute_max;
  std::chrono::microseconds ping_interval = limits::ws_session_ping_interval;
  /// The peer is dead when for this long it sent no byte and took none that
  /// waited for it.
  std::chrono::microseconds idle_timeout = limits::ws_session_idle_timeout;
  /// The peer is dead when queued bytes do not move for this long.
  std::chrono::microseconds stall_timeout = limits::ws_stall_timeout;
};

/// Receives what happens, on an io thread, one call at a time. `on_closed`
/// comes exactly once and last.
class ws_session_listener {
public:
  virtual ~ws_session_listener() = default;

  /// One text message; valid during the call, checked to be UTF-8.
  virtual void on_text(std::string_view message) = 0;

  /// One binary message; valid during the call.
  virtual void on_binary(bytes_view message) { static_cast<void>(message); }

  /// The queue fell to half of its bounds after `send` had returned false.
  virtual void on_drained() {}

  /// The connection is over, whoever ended it. `reason` is for the log.
  virtual void on_closed(std::string_view reason) = 0;
};

/// The server's side of one WebSocket connection (RFC 6455, no compression).
/// Many queued messages go out in one gathered write; pongs, pings and close
/// frames overtake queued messages at the next frame boundary.
///
/// # Ownership and threads
/// Call it from any thread. Dropping the last pointer cuts the connection. The
/// listener is kept until `on_closed` returned.
class ws_session {
public:
  virtual ~ws_session() = default;

  /// Queues a message. Returns false and queues nothing when the queue is full
  /// or the connection is over; `on_drained` says when to go on.
  virtual bool send(const ws_message& x) = 0;

  /// Cuts the TCP connection without a close frame: clients of Tap and
  /// Jetstream then reconnect (api.md, GET /channel). Unsent messages are lost.
  virtual void cut() = 0;

  /// Sends a close frame ahead of unsent messages, which are lost, and ends the
  /// connection when the peer answers, at the latest after 5 s.
  /// @param reason At most 123 bytes.
  virtual void close(uint16_t code, std::string_view reason = {}) = 0;

  /// Messages and bytes that wait to be sent.
  virtual size_t queued_messages() const noexcept = 0;
  virtual size_t queued_bytes() const noexcept = 0;

  virtual const ip_address& peer() const noexcept = 0;
};

using ws_session_ptr = std::shared_ptr<ws_session>;

} // namespace weir::net
