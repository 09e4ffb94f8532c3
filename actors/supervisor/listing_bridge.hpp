#pragma once

#include "actors/supervisor/supervisor.hpp"
#include "net/http_client.hpp"
#include "wire/filter.hpp"

namespace weir::actors {

/// `com.atproto.sync.listRepos` and `listReposByCollection` over real sockets;
/// of a PDS, which has no such thing, `find_holders` of any of `signal`.
/// The position a page is compared at is the one before the request
/// (completeness.md, The terms).
repo_lister make_repo_lister(net::http_client_ptr client, context_ptr shared,
                             wire::collection_filter signal = {});

} // namespace weir::actors
