#pragma once

#include "actors/supervisor/supervisor.hpp"
#include "net/http_client.hpp"

namespace weir::actors {

/// Asks hosts with `com.atproto.sync.getRepoStatus` over real sockets
/// (protocol-coverage.md 4.5).
/// @param client Has the address guard, since anybody can name any host in a
///        DID document.
account_asker make_account_asker(net::http_client_ptr client);

} // namespace weir::actors
