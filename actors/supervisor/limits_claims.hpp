#pragma once

#include <chrono>
#include <cstddef>

/// Bounds that `actors/supervisor` keeps. A name says the thing and the unit.
/// The value itself is accepted; value + 1 is refused.
namespace weir::limits {

using namespace std::chrono_literals;

/// Claims whose documents are asked for at once, of all listings together and
/// of all streams: the turns of those that wait decide who is next, not who came
/// a moment sooner.
constexpr size_t claims_asked_max = 16;

/// Of those, of one listing or stream.
constexpr size_t claims_asked_share = 12;

/// Of those, of did:web names: anybody can have any number of hosts that hang, and
/// claim their names from any number of listings.
constexpr size_t claims_web_max = 4;

/// Claims beyond `claims_of_page_max` of their pages, of all listings together.
constexpr size_t claims_spare_max = 65'536;

/// So many-th turn goes to the next listing, the others to the one of which the
/// fewest were asked about: small hosts are done soon, and large ones go on.
constexpr size_t claims_even_turn = 4;

/// When a listing names an account as away, and the tombstone that is known of it
/// is older than this, the directory is asked again. Not each time, since a host
/// may list such accounts for ever.
constexpr auto gone_claim_interval = 1h;

/// DIDs of one stream of a PDS that wait for their documents: twelve seconds of
/// 20 look-ups a second, the fewest that a slow directory is asked for. Those
/// beyond are left to the listing.
constexpr size_t stream_claims_max = 256;

/// What the claims of all streams may hold, in parts of what those of listings
/// may, and beside that.
constexpr size_t stream_claims_part = 4;

/// Each costs this beside four texts of its DID: SUPERVISOR and ROUTER have it.
constexpr size_t stream_claim_bytes = 512;

/// The longest rest of a stream that names what is not so.
constexpr auto stream_mistrust_max = 1h;

/// Accounts of a listing whose documents are looked at before the origin of its
/// host is called wrong: of a host that half of its accounts have left, and still
/// calls active, one of 65,000 listings has none that is still there among them.
constexpr size_t origin_accounts_max = 16;

/// Documents that are asked for at once because of this, of all upstreams: beside
/// the claims of listings, which have the same turn.
constexpr size_t origin_asked_max = 8;

/// So often a document that names another host is fetched anew, because the one
/// that came was older than the page.
constexpr size_t origin_looks_max = 2;

} // namespace weir::limits
