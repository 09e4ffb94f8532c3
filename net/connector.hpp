#pragma once

#include "net/address_guard.hpp"
#include "net/tls.hpp"
#include "net/transport.hpp"
#include "net/url.hpp"

namespace weir::net {

/// How to reach the host of a URL.
struct connect_options {
  address_guard guard;
  tls_client_ptr tls; ///< Null: https and wss fail.
  std::chrono::microseconds connect_timeout{};
  std::chrono::microseconds tls_timeout{};
};

/// Resolves the host of `to`, connects to an address that the guard allows
/// (each in turn, within one `connect_timeout`), checks the connected address
/// again, and puts TLS on top where the scheme says so. `done` runs on `loop`,
/// never inside this call.
///
/// Errors: `invalid_argument` (the guard refused the URL or all addresses),
/// `not_found`, `unreachable`, `limit_reached`.
void connect_to(transport_ptr network, event_loop& loop, const url& to,
                connect_options options, stream_handler done);

} // namespace weir::net
