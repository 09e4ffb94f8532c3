#pragma once

#include "actors/supervisor/limits.hpp"

/// Limits of `actors/supervisor` for what listings and streams only claim: the
/// value itself is allowed, value + 1 is not.
namespace weir::limits {

/// DIDs of one page that are certainly checked because the page claims them: as
/// many as were requested.
constexpr size_t claims_of_page_max = listing_page_asked;

/// The memory in bytes of the claims of all listings together. A page for which
/// there is no room is requested again later. Each claim costs
/// `claim_entry_bytes` beside the texts of its DID, of which there are three.
constexpr size_t claims_bytes_max = 8'388'608;
constexpr size_t claim_entry_bytes = 256;

/// A listing is judged after this many decided claims. After ten times as many,
/// both of its counts are halved, so that old claims count less.
constexpr size_t claims_judged_min = 50;

/// When the directory is away, it is asked again after this time, and for one
/// claim this many times in all.
constexpr auto claim_retry = 10s;
constexpr size_t claim_tries_max = 5;

/// Claims whose documents are requested at once: this many for all listings
/// together, and as many for all streams. The number is small so that turns
/// decide which claim is next, and not which one came a moment sooner.
constexpr size_t claims_asked_max = 16;

/// The most of these that belong to one listing or one stream.
constexpr size_t claims_asked_share = 12;

/// The most of these that are did:web names: anybody can run any number of
/// hosts that hang, and claim their names in any number of listings.
constexpr size_t claims_web_max = 4;

/// Claims beyond `claims_of_page_max` of a page, of all listings together.
constexpr size_t claims_spare_max = 65'536;

/// Every fourth turn goes to the next listing in order. All other turns go to
/// the listing for which the fewest documents were requested. So small hosts
/// are done soon, and large ones still go on.
constexpr size_t claims_even_turn = 4;

/// A listing may name an account as away whose tombstone is known. When the
/// tombstone is older than this, the directory is asked again. This does not
/// happen each time, since a host may list such accounts for ever.
constexpr auto gone_claim_interval = 1h;

/// DIDs of one PDS stream that wait for their documents: twelve seconds of 20
/// look-ups a second, which is the lowest rate to which a slow directory is
/// slowed. DIDs beyond that are left to the listing.
constexpr size_t stream_claims_max = 256;

/// The claims of all streams may use one quarter of the memory that the claims
/// of listings may use, in addition to it.
constexpr size_t stream_claims_part = 4;

/// The cost in bytes of a stream's claim, beside four texts of its DID.
/// SUPERVISOR and ROUTER each keep it.
constexpr size_t stream_claim_bytes = 512;

/// The longest rest of a stream whose claims are mostly false.
constexpr auto stream_mistrust_max = 1h;

/// Accounts of a listing whose documents are looked at before the configured
/// origin of its host is called wrong. Suppose half of a host's accounts have
/// moved away and it still calls them active: then only one of 65,000 listings
/// has none among its first 16 that is still there.
constexpr size_t origin_accounts_max = 16;

/// Documents that are requested at once to check origins, of all upstreams: in
/// addition to the claims of listings, with which they share their turn.
constexpr size_t origin_asked_max = 8;

/// A document that names another host and is older than the page is fetched
/// anew, at most this many times.
constexpr size_t origin_looks_max = 2;

} // namespace weir::limits
