#pragma once

#include "base/bytes.hpp"
#include "net/http_types.hpp"
#include "net/ip_address.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weir::net {

/// The rest of a body, which is made while it is sent: for simulated hosts that
/// are slow or never stop sending.
///
/// # Threads
/// Called on the connection's loop.
class reply_rest {
public:
  struct piece {
    bytes data;                         ///< Empty: there is no more.
    std::chrono::microseconds pause{0}; ///< The pause before it is sent.
  };

  virtual ~reply_rest() = default;

  /// Its size in bytes, for Content-Length. None: the body ends with the
  /// connection.
  virtual std::optional<uint64_t> size() const = 0;

  virtual piece next() = 0;
};

/// An answer. The server itself sets Content-Length and Connection. A name or
/// value with control bytes turns the answer into a 500.
struct http_reply {
  int status = 200;
  std::string content_type = "application/json";
  http_headers headers;
  shared_bytes body;
  /// The answer is sent after this time; nothing is read meanwhile.
  std::chrono::microseconds delay{0};
  /// Cuts the connection after this many body bytes (simulated faults).
  std::optional<size_t> cut_after_bytes;
  /// It is sent after `body` (simulated faults).
  std::shared_ptr<reply_rest> rest;
};

/// Takes the body of one request in pieces, as they arrive. The service makes
/// it in `on_head`; it ends with its request. Lives on the connection's loop
/// until the request is handed over.
class body_sink {
public:
  virtual ~body_sink() = default;

  /// Takes a piece; returns a refusal, which ends the reading, or nothing.
  virtual std::optional<http_reply> put(bytes_view piece) = 0;
};

/// A whole request that passed the server's strict checks.
struct incoming_request {
  std::string method; ///< As sent. The body of a reply to HEAD is dropped.
  std::string path;   ///< Percent-decoded once; starts with '/'.
  std::vector<std::pair<std::string, std::string>> query; ///< Decoded once.
  http_headers headers; ///< Names in lower case.
  std::string body;     ///< Empty when there is a sink.
  ip_address peer;
  /// Takes the body; the service sets it in `on_head`.
  std::shared_ptr<body_sink> sink;
  /// Anybody may make this request, so it does not make its client a known one
  /// (`connection_places`); the service sets it in `on_head`.
  bool open_to_all = false;

  const std::string* header(std::string_view name) const noexcept {
    return find_header(headers, name);
  }

  /// The first value of a query parameter, or null.
  const std::string* parameter(std::string_view name) const noexcept;

  /// Sets path and query. False when they are not percent-encoded right.
  bool set_target(std::string_view target);
};

http_reply json_reply(int status, std::string_view body);

/// `{"error": name, "message": message}` (api.md, Errors).
http_reply error_reply(int status, std::string_view name,
                       std::string_view message);

} // namespace weir::net
