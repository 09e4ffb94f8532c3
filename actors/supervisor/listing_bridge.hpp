#pragma once

#include "actors/supervisor/supervisor.hpp"
#include "net/http_client.hpp"
#include "wire/filter.hpp"

namespace weir::actors {

/// Requests `com.atproto.sync.listRepos` and `listReposByCollection` over real
/// sockets. A PDS has no `listReposByCollection`; there `find_holders` is used
/// with the collections `signal`. A page is compared at the position from
/// before the request (completeness.md, The terms).
repo_lister make_repo_lister(net::http_client_ptr client, context_ptr shared,
                             wire::collection_filter signal = {});

} // namespace weir::actors
