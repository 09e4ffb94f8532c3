#pragma once

#include "base/error.hpp"
#include "net/transport.hpp"

#include <chrono>
#include <memory>
#include <string>

namespace weir::net {

/// Settings of TLS when we are the client.
struct tls_client_options {
  /// PEM file with the only CAs to trust; empty: those of the machine. A pipe
  /// or a device is not read, since it may have no end.
  std::string ca_file;
};

/// What all TLS clients share: trusted CAs, TLS 1.2 or newer, chain and host
/// name verified, no renegotiation, no compression.
///
/// # Threads
/// Immutable; shared by all connections.
class tls_client {
public:
  /// Errors: `ec::invalid_argument` when the CA file does not load.
  static result<std::shared_ptr<const tls_client>>
  make(const tls_client_options& options = {});

  virtual ~tls_client() = default;

  /// Speaks TLS over `plain`, which must come from the system transport, and
  /// verifies that the peer is `host` (also sent as SNI). Runs on the stream's
  /// loop. Errors: `ec::unreachable`; `plain` is then closed.
  ///
  /// A stream that ends without close_notify ends with an error, so that a
  /// body cut short by a third party is never taken for a whole one.
  virtual void connect(stream_ptr plain, std::string host,
                       std::chrono::microseconds timeout,
                       stream_handler done) const = 0;
};

using tls_client_ptr = std::shared_ptr<const tls_client>;

} // namespace weir::net
