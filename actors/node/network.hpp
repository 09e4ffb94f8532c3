#pragma once

#include "actors/node/node_config.hpp"
#include "base/clock.hpp"
#include "net/http_client.hpp"
#include "net/io_threads.hpp"
#include "net/tls.hpp"
#include "net/transport.hpp"

#include <memory>

namespace weir::actors {

/// Sockets of a node: threads, transport and clients.
///
/// # Ownership and threads
/// Owned by NODE; stopped before the actors' system ends.
struct network {
  std::unique_ptr<net::io_threads>
    threads; ///< Null: the transport has its own.
  net::transport_ptr transport;
  net::tls_client_ptr tls;
  /// Asks hosts that documents name, and obeys the address guard.
  net::http_client_ptr guarded;
  /// Asks what the operator configured: directory, resolver, upstreams.
  net::http_client_ptr configured;
};

/// @param transport Null: the machine's.
/// @param tls Null: use the certificates of `config.ca_file`.
result<network> make_network(const node_config& config, const clock& time,
                             net::transport_ptr transport,
                             net::tls_client_ptr tls);

} // namespace weir::actors
