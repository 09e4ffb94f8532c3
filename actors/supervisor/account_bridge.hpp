#pragma once

#include "actors/supervisor/supervisor.hpp"
#include "net/http_client.hpp"

namespace weir::actors {

/// `com.atproto.sync.getRepoStatus` over real sockets
/// (protocol-coverage.md 4.5).
/// @param client With the address guard: hosts name themselves.
account_asker make_account_asker(net::http_client_ptr client);

} // namespace weir::actors
