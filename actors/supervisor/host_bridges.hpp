#pragma once

#include "actors/supervisor/supervisor.hpp"
#include "net/http_client.hpp"
#include "wire/filter.hpp"

/// What the SUPERVISOR asks hosts over real sockets.
namespace weir::actors {

/// Asks hosts with `com.atproto.sync.getRepoStatus` (protocol-coverage.md 4.5).
/// @param client Has the address guard, since anybody can name any host in a
///        DID document.
account_asker make_account_asker(net::http_client_ptr client);

/// Requests `com.atproto.sync.listRepos` and `listReposByCollection`. A PDS has
/// no `listReposByCollection`; there `find_holders` is used with the
/// collections `signal`. A page is compared at the position from before the
/// request (completeness.md, The terms).
repo_lister make_repo_lister(net::http_client_ptr client, context_ptr shared,
                             wire::collection_filter signal = {});

} // namespace weir::actors
