#pragma once

#include "actors/supervisor/supervisor.hpp"
#include "net/http_client.hpp"
#include "wire/filter.hpp"

namespace weir::actors {

/// Sorts the repos of a page of a PDS by whether they have records in one of
/// these collections: a PDS has no listReposByCollection, so it is asked about
/// each active account that is not tracked with `com.atproto.repo.describeRepo`,
/// one after the other (requirements.md SYNC-18). The page goes to `to` when all
/// have been asked about.
///
/// `holders_machine` says who is passed over (`listing_page::unanswered`; the
/// next listing asks about them again) and when the page fails. It also fails when
/// the host asks for time.
/// @param store Knows which repos are tracked.
void find_holders(net::http_client_ptr client, net::url host,
                  wire::collection_filter collections, reader_actor store,
                  listing_page page, supervisor_actor to);

} // namespace weir::actors
