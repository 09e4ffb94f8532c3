#pragma once

#include "base/bytes.hpp"
#include "base/clock.hpp"
#include "base/error.hpp"
#include "net/address_guard.hpp"
#include "net/http_types.hpp"
#include "net/limits.hpp"
#include "net/tls.hpp"
#include "net/transport.hpp"
#include "net/url.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace weir::net {

/// Bounds of one call (hostile-inputs.md 2.1.21). All times count for each hop,
/// except `total`, which covers redirects and the body.
struct http_call_limits {
  /// Body bytes after inflating.
  uint64_t body_bytes_max = limits::http_response_bytes_default;
  size_t head_bytes_max = limits::http_response_head_bytes_max;
  std::chrono::microseconds connect = limits::connect_timeout;
  std::chrono::microseconds tls = limits::tls_timeout;
  /// The time from the request's last byte to the end of the response head.
  std::chrono::microseconds first_byte = limits::first_byte_timeout;
  std::chrono::microseconds total = limits::http_total_timeout;
  /// The body must bring `rate_window` x this many bytes in each window. Time
  /// without credit does not count.
  uint64_t bytes_per_second_min = limits::http_bytes_per_second_min;
  std::chrono::microseconds rate_window = limits::http_rate_window;
};

/// What to ask for. The client sets Host, User-Agent, Accept-Encoding,
/// Content-Length and Connection itself and refuses them in `headers`.
struct http_request {
  url target;
  std::string method = "GET";
  http_headers headers;
  std::string body;
  /// Offers gzip (getRepo only, ADR 7, 4). Any content encoding that
  /// was not offered is refused.
  bool accept_gzip = false;
  /// Number of redirects that GET and HEAD follow; one more fails.
  unsigned redirects_max = limits::http_redirects_max;
  http_call_limits limits;
  /// Body bytes that may be handed out before the first `grant` (`stream`).
  uint64_t credit = UINT64_MAX;
};

/// Status line and fields of the last hop.
struct http_response_head {
  int status = 0;
  http_headers headers;
  url from; ///< The URL that answered, after redirects.
  /// The wait that Retry-After asks for (seconds or date), at most a day.
  std::optional<std::chrono::seconds> retry_after;
  /// Time until the RateLimit window resets (RateLimit-Reset, as seconds or as
  /// Unix time), at most a day.
  std::optional<std::chrono::seconds> rate_limit_reset;

  /// The wait that the host asked for; 0: none.
  std::chrono::seconds wait() const noexcept {
    return retry_after.value_or(
      rate_limit_reset.value_or(std::chrono::seconds{0}));
  }
};

/// A whole answer. Any status is an answer, also 404 and 500.
struct http_response : http_response_head {
  bytes body;
};

/// Receives one answer of any size, on an io thread, one call at a time:
/// `on_head` at most once, `on_body` any number of times, `on_end` exactly
/// once and last.
///
/// Errors of `on_end`: `unreachable` (refused, reset, timed out, too slow, cut
/// off, DNS), `limit_reached` (a bound of the call or the pool), `malformed`
/// (not HTTP, bad gzip), `invalid_argument` (the guard refused, bad redirect,
/// content encoding not offered), `not_found` (no such name), `cancelled`.
class http_sink {
public:
  virtual ~http_sink() = default;

  /// @returns false to cancel the call.
  virtual bool on_head(const http_response_head& head) = 0;

  /// A piece of the body, at most 64 KiB, valid during the call.
  virtual void on_body(bytes_view piece) = 0;

  virtual void on_end(result<void> outcome) = 0;
};

/// A call in progress. It goes on when this object is dropped.
///
/// # Threads
/// Any thread.
class http_call {
public:
  virtual ~http_call() = default;

  /// Ends the call with `ec::cancelled`, unless it has ended.
  virtual void cancel() = 0;

  /// Allows `n` more body bytes. Without credit the socket is not read, beyond
  /// one buffer of 64 KiB.
  virtual void grant(uint64_t n) = 0;
};

using http_call_ptr = std::shared_ptr<http_call>;
using http_handler = std::function<void(result<http_response>)>;

struct http_client_options {
  address_guard guard;
  tls_client_ptr tls; ///< Null: https fails.
  std::string user_agent = "weir";
  /// Whether a redirect may lead to another origin. Set it to false when the
  /// guard allows an operator's own addresses: no host may choose among them.
  bool foreign_redirects = true;
  /// Connections of one origin, in use and idle.
  size_t connections_per_origin_max = limits::http_connections_per_origin_max;
  /// Calls that wait for a connection, over all origins.
  size_t waiting_calls_max = limits::http_waiting_calls_max;
  /// An idle connection is closed after this time. Above
  /// `limits::http_idle_connections_max` the oldest one is closed.
  std::chrono::microseconds idle_timeout = limits::http_client_idle_timeout;
  /// The clock that judges dates in Retry-After.
  const clock* time = &system_clock();
};

/// HTTP/1.1 over plain sockets and TLS, with a pool of kept-alive connections
/// per origin. It follows redirects itself and checks each hop with the guard;
/// https to http is refused. No cookies, no proxies, no cache.
///
/// # Ownership and threads
/// Shared; call it from any thread. It lives on one loop. Its destruction
/// cancels all calls.
class http_client {
public:
  virtual ~http_client() = default;

  /// Collects the body, so it is for small answers; then calls `done` once on
  /// an io thread.
  virtual http_call_ptr get(http_request request, http_handler done) = 0;

  /// Takes answers of any size; `sink` is kept until `on_end`.
  virtual http_call_ptr stream(http_request request,
                               std::shared_ptr<http_sink> sink)
    = 0;
};

using http_client_ptr = std::shared_ptr<http_client>;

http_client_ptr make_http_client(transport_ptr network,
                                 http_client_options options);

} // namespace weir::net
