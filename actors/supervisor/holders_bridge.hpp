#pragma once

#include "actors/supervisor/supervisor.hpp"
#include "net/http_client.hpp"
#include "wire/filter.hpp"

namespace weir::actors {

/// Sorts the repos of a page of a PDS by whether they have records in one of
/// these collections: a PDS has no listReposByCollection, so it is asked about
/// each active account with `com.atproto.repo.describeRepo`, one after the other
/// (requirements.md SYNC-18). The page goes to `to` when all have been asked
/// about.
///
/// An account without a good answer, twice, is passed over and counted
/// (`listing_page::unanswered`): the next listing asks again. The page fails
/// when the host asks for time, and after `limits::describe_failures_max`
/// accounts in a row for which it was away, or which it refused as what it does
/// not offer before it described one.
void find_holders(net::http_client_ptr client, net::url host,
                  wire::collection_filter collections, listing_page page,
                  supervisor_actor to);

} // namespace weir::actors
