#pragma once

#include "base/error.hpp"
#include "net/connection_places.hpp"
#include "net/http_messages.hpp"
#include "net/limits.hpp"
#include "net/transport.hpp"
#include "net/ws_session.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

namespace weir::net {

/// The right to answer one request, once, from any thread. Copies share it;
/// when the last one is destroyed unused, the client gets a 500. `io_threads`
/// must outlive all copies: a thread that answers must end before it.
class responder {
public:
  struct slot; ///< The server's side.

  explicit responder(std::shared_ptr<slot> x) : slot_(std::move(x)) {}

  /// Answers. Later calls do nothing.
  void send(http_reply reply) const;

  /// Cuts the connection instead of answering.
  void cut() const;

private:
  std::shared_ptr<slot> slot_;
};

/// The right to accept one WebSocket upgrade; it works like `responder`.
class upgrader {
public:
  explicit upgrader(std::shared_ptr<responder::slot> x) : slot_(std::move(x)) {}

  /// Switches to WebSocket; the session may be used at once. Null when the
  /// request was answered already. If the connection is gone, the session ends.
  ws_session_ptr accept(std::shared_ptr<ws_session_listener> listener,
                        const ws_session_options& options = {}) const;

  /// Answers with an HTTP status instead.
  void reject(http_reply reply) const;

  /// Cuts the connection without an answer, so that clients try again.
  void cut() const;

private:
  std::shared_ptr<responder::slot> slot_;
};

/// The application behind a server. It is called on io threads, for different
/// connections at the same time when there are two loops.
class http_service {
public:
  virtual ~http_service() = default;

  /// The largest body of this route in bytes; called when the head is complete.
  virtual size_t body_bytes_max(std::string_view method,
                                std::string_view path) {
    static_cast<void>(method);
    static_cast<void>(path);
    return limits::http_request_body_bytes_default;
  }

  /// Called once for each request and upgrade when its head is complete, before
  /// its body is read. Returns a refusal, or nothing: then the client is no
  /// stranger any more (`connection_places`), unless it sets
  /// `head.open_to_all`. It may set `head.sink`.
  virtual std::optional<http_reply> on_head(incoming_request& head) {
    static_cast<void>(head);
    return std::nullopt;
  }

  virtual void on_request(incoming_request request, responder answer) = 0;

  /// Gets a well-formed WebSocket upgrade; by default answers 404.
  virtual void on_upgrade(incoming_request request, upgrader answer);
};

/// Bounds of hostile-inputs.md 2.2.9.
struct http_server_options {
  endpoint at; ///< Port 0 takes a free one.
  connection_places::bounds places;
  /// Time for a head, from its first byte (for the first: from the connection).
  std::chrono::microseconds head_timeout = limits::http_server_head_timeout;
  std::chrono::microseconds body_timeout = limits::http_server_body_timeout;
  /// Time between two requests, and for the peer to take a part of a reply.
  std::chrono::microseconds idle_timeout = limits::http_server_idle_timeout;
};

class server_core;

/// An HTTP/1.1 server with WebSocket upgrades. A request that breaks the
/// framing rules (both Content-Length and Transfer-Encoding, either twice,
/// folded lines, bare LF, control bytes, no Host, ...) gets a 400, and its
/// connection is closed.
///
/// # Ownership and threads
/// Its destruction stops listening and cuts all connections; listeners of
/// sessions get `on_closed`.
class http_server {
public:
  http_server(std::shared_ptr<server_core> core, std::unique_ptr<listener> x);
  ~http_server();

  http_server(const http_server&) = delete;
  http_server& operator=(const http_server&) = delete;

  const endpoint& local() const noexcept { return listener_->local(); }

  /// Stops listening; open connections stay.
  void stop_listening() { listener_->close(); }

  /// Open connections, WebSocket sessions included.
  size_t connections() const noexcept;

private:
  std::shared_ptr<server_core> core_;
  std::unique_ptr<listener> listener_;
};

result<std::shared_ptr<http_server>>
make_http_server(transport_ptr network, std::shared_ptr<http_service> service,
                 http_server_options options);

} // namespace weir::net
