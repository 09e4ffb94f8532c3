#pragma once

#include "base/bytes.hpp"
#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/limits.hpp"
#include "base/random.hpp"
#include "net/address_guard.hpp"
#include "net/http_types.hpp"
#include "net/limits.hpp"
#include "net/tls.hpp"
#include "net/transport.hpp"
#include "net/url.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weir::net {

/// Which messages a client takes; any other kind ends the connection (1003).
enum class ws_accepts : uint8_t { binary, text };

struct ws_client_options {
  url target; ///< ws or wss. Redirects are not followed.
  http_headers headers;
  std::string user_agent = "weir";
  ws_accepts accepts = ws_accepts::binary;
  size_t message_bytes_max = limits::frame_bytes_max;
  address_guard guard;
  tls_client_ptr tls; ///< Null: wss fails.
  std::chrono::microseconds connect_timeout = limits::connect_timeout;
  std::chrono::microseconds tls_timeout = limits::tls_timeout;
  std::chrono::microseconds upgrade_timeout = limits::first_byte_timeout;
  std::chrono::microseconds ping_interval = limits::ws_ping_interval;
  /// The connection is dead after this long without a byte, counted only while
  /// we read (that is, hold credit).
  std::chrono::microseconds idle_timeout = limits::ws_client_idle_timeout;
  /// The clock that judges dates in Retry-After.
  const clock* time = &system_clock();
  /// Makes the key and the masks; used on the loop and on threads that send.
  random_source* random = &system_random();
};

/// Why a connection is over.
struct ws_close_info {
  /// `unreachable`: refused, reset, timed out, closed by the peer, or HTTP 5xx.
  /// `not_found`: no such name. `malformed`: against the WebSocket rules, or a
  /// kind that we do not accept. `limit_reached`: a message above the limit, or
  /// too many look-ups. `rate_limited`: HTTP 429. `invalid_argument`: the guard
  /// refused, or any other HTTP status. `cancelled`: by us.
  error reason;
  bool opened = false; ///< Whether `on_open` was called.
  int http_status = 0; ///< Answer to the upgrade; 0 when none came.
  std::optional<std::chrono::seconds> retry_after;
  uint16_t close_code = 0; ///< The peer's code; 0 when no close frame came.
  std::string close_text;  ///< Its reason; at most 123 bytes of UTF-8.
};

/// Receives what happens, on an io thread, one call at a time: `on_open` at
/// most once, then `on_frames`, then `on_close` exactly once and last.
class ws_listener {
public:
  virtual ~ws_listener() = default;

  virtual void on_open() = 0;

  /// Gets 1 to `limits::ws_batch_frames_max` messages in order: those that one
  /// read of the socket completed, so none waits for a batch to fill. Each has
  /// its own buffer of exactly its size.
  virtual void on_frames(std::vector<shared_bytes> frames) = 0;

  virtual void on_close(const ws_close_info& info) = 0;
};

/// A WebSocket connection for event streams (protocol-coverage.md 1): no
/// compression, no subprotocol, pings every `ping_interval`.
///
/// # Credit
/// A connection starts with none. Each delivered message costs one frame and
/// its bytes. The socket is read only while both are above zero, beyond one
/// buffer of 64 KiB; the last message may overdraw the bytes, so a message
/// larger than the window still passes.
///
/// # Ownership and threads
/// Call it from any thread. Its destruction closes the connection. The listener
/// is kept until `on_close` returned.
class ws_client {
public:
  virtual ~ws_client() = default;

  /// Adds credit.
  virtual void grant(size_t frames, size_t bytes) = 0;

  /// Whether it had credit of both kinds at the last message or grant.
  virtual bool has_credit() const = 0;

  /// Queues a text message, e.g. an ack. Returns false and queues nothing when
  /// `limits::ws_client_queue_max` messages or
  /// `limits::ws_client_queue_bytes_max` bytes would be exceeded, or the
  /// connection is over.
  virtual bool send_text(std::string_view payload) = 0;

  /// Ends the connection: close frame with `code`, then TCP, within 5 s.
  /// `on_close` comes with `ec::cancelled` and does not wait for that.
  virtual void close(uint16_t code = 1000) = 0;
};

using ws_client_ptr = std::shared_ptr<ws_client>;

/// Starts to connect at once.
ws_client_ptr make_ws_client(transport_ptr network, ws_client_options options,
                             std::shared_ptr<ws_listener> listener);

} // namespace weir::net
