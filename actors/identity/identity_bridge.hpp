#pragma once

#include "actors/identity/identity.hpp"
#include "net/http_client.hpp"

namespace weir::actors {

struct identity_network_options {
  std::string plc_url = "https://plc.directory"; ///< Origin of the directory.
  /// If set, the server that is asked for the owners of handles
  /// (`resolveHandle`), instead of DNS and the handle's own host.
  std::string handle_resolver_url;
  bool allow_private = false; ///< Allows did:web on localhost, by plain http.
};

/// Look-ups over real sockets (protocol-coverage.md 8): did:plc from the
/// directory, did:web from its host, handles by DNS TXT and well-known file.
/// @param directory Client for the configured directory and resolver, which may
/// be in private networks; `client` obeys the address guard.
std::shared_ptr<identity_network>
make_identity_network(net::transport_ptr transport, net::http_client_ptr client,
                      net::http_client_ptr directory,
                      identity_network_options options);

} // namespace weir::actors
