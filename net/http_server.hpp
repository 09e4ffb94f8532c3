#pragma once

#include "base/bytes.hpp"
#include "base/error.hpp"
#include "net/connection_places.hpp"
#include "net/http_types.hpp"
#include "net/limits.hpp"
#include "net/transport.hpp"
#include "net/ws_session.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weir::net {

/// The rest of a body, made while it goes out: for simulated hosts that are
/// slow, or never come to an end.
///
/// # Threads
/// Asked on the connection's loop.
class reply_rest {
public:
  struct piece {
    bytes data;                         ///< Empty: there is no more.
    std::chrono::microseconds pause{0}; ///< Before it is sent.
  };

  virtual ~reply_rest() = default;

  /// Its bytes, which Content-Length then names. None: the body ends with the
  /// connection.
  virtual std::optional<uint64_t> size() const = 0;

  virtual piece next() = 0;
};

/// An answer. Content-Length and Connection are the server's to set; names and
/// values with control bytes turn the answer into 500.
struct http_reply {
  int status = 200;
  std::string content_type = "application/json";
  http_headers headers;
  shared_bytes body;
  /// Goes out so much later; nothing is read meanwhile.
  std::chrono::microseconds delay{0};
  /// For simulated faults: cuts the connection after this many body bytes.
  std::optional<size_t> cut_after_bytes;
  /// For simulated faults: follows `body`.
  std::shared_ptr<reply_rest> rest;
};

/// Takes the body of one request in pieces, as they arrive. Made by the service
/// for a head; ends with its request. Lives on the connection's loop until the
/// request is handed over.
class body_sink {
public:
  virtual ~body_sink() = default;

  /// A refusal, with which the rest is not read; or nothing.
  virtual std::optional<http_reply> put(bytes_view piece) = 0;
};

/// A whole request that passed the server's strict checks.
struct incoming_request {
  std::string method; ///< As sent; HEAD arrives as HEAD, its body is dropped.
  std::string path;   ///< Percent-decoded once; starts with '/'.
  std::vector<std::pair<std::string, std::string>> query; ///< Decoded once.
  http_headers headers; ///< Names in lower case.
  std::string body;     ///< Empty when there is a sink.
  ip_address peer;
  /// Where the body goes; the service's own, from `on_head`.
  std::shared_ptr<body_sink> sink;

  const std::string* header(std::string_view name) const noexcept {
    return find_header(headers, name);
  }

  /// The first value of a query parameter, or null.
  const std::string* parameter(std::string_view name) const noexcept;

  /// Takes path and query. False when they are not percent-encoded right.
  bool set_target(std::string_view target);
};

http_reply json_reply(int status, std::string_view body);

/// `{"error": name, "message": message}` (api.md, Errors).
http_reply error_reply(int status, std::string_view name,
                       std::string_view message);

/// The right to answer one request, once, from any thread. Copies share it;
/// when the last one goes unused the client gets a 500. The loops outlive them:
/// who answers from a thread of its own ends that before `io_threads`.
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

/// The right to accept one WebSocket upgrade, as `responder`.
class upgrader {
public:
  explicit upgrader(std::shared_ptr<responder::slot> x) : slot_(std::move(x)) {}

  /// Switches to WebSocket; the session may be used at once. Null when the
  /// connection is gone or was answered already.
  ws_session_ptr accept(std::shared_ptr<ws_session_listener> listener,
                        const ws_session_options& options = {}) const;

  /// Answers with an HTTP status instead.
  void reject(http_reply reply) const;

  /// Cuts the connection without an answer; clients then try again.
  void cut() const;

private:
  std::shared_ptr<responder::slot> slot_;
};

/// The application behind a server. Called on io threads, for different
/// connections at the same time when there are two loops.
class http_service {
public:
  virtual ~http_service() = default;

  /// The largest body for this route, asked when the head is complete.
  virtual size_t body_bytes_max(std::string_view method,
                                std::string_view path) {
    static_cast<void>(method);
    static_cast<void>(path);
    return limits::http_request_body_bytes_default;
  }

  /// Asked once for each request and upgrade when its head is complete, before
  /// any of a body is read: a refusal, or nothing. Who is not refused is no
  /// stranger any more (`connection_places`). May say where the body goes.
  virtual std::optional<http_reply> on_head(incoming_request& head) {
    static_cast<void>(head);
    return std::nullopt;
  }

  virtual void on_request(incoming_request request, responder answer) = 0;

  /// A well-formed WebSocket upgrade. Default: 404.
  virtual void on_upgrade(incoming_request request, upgrader answer);
};

/// Bounds of hostile-inputs.md 2.2.9.
struct http_server_options {
  endpoint at; ///< Port 0 takes a free one.
  connection_places::bounds places;
  /// From the first byte of a request (from the connection, for the first).
  std::chrono::microseconds head_timeout = limits::http_server_head_timeout;
  std::chrono::microseconds body_timeout = limits::http_server_body_timeout;
  /// Between two requests of one connection, and for the peer to take a reply.
  std::chrono::microseconds idle_timeout = limits::http_server_idle_timeout;
};

class server_core;

/// An HTTP/1.1 server with WebSocket upgrades. What breaks the framing rules
/// (both Content-Length and Transfer-Encoding, either twice, folded lines, bare
/// LF, control bytes, no Host, ...) is answered 400 and closed.
///
/// # Ownership and threads
/// Destruction stops listening and cuts all connections; sessions are told.
class http_server {
public:
  http_server(std::shared_ptr<server_core> core, std::unique_ptr<listener> x);
  ~http_server();

  http_server(const http_server&) = delete;
  http_server& operator=(const http_server&) = delete;

  const endpoint& local() const noexcept { return listener_->local(); }

  /// Stops listening; connections go on.
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
