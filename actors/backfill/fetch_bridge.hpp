#pragma once

#include "actors/backfill/backfill.hpp"

namespace weir::actors {

/// Fetches with `com.atproto.sync.getRepo` over real sockets. It accepts gzip
/// and follows redirects under the address guard (protocol-coverage.md 5).
/// @param bytes_max One byte more in the inflated body fails the fetch.
repo_fetcher make_repo_fetcher(net::http_client_ptr client, uint64_t bytes_max);

} // namespace weir::actors
