#pragma once

#include "actors/supervisor/limits.hpp"
#include "base/option_range.hpp"

#include <chrono>
#include <cstddef>

/// Bounds that `actors/supervisor` keeps. A name says the thing and the unit.
/// The value itself is accepted; value + 1 is refused.
namespace weir::limits {

using namespace std::chrono_literals;

/// Listing pages that an upstream is asked for in an hour. With 50 pages, a
/// thousand repos are compared every minute or two, and a million daily.
constexpr option_range<size_t> listing_requests_range{1, 100'000, 50};

/// The shortest time from the end of a listing to the next one by interval,
/// however few pages it has.
constexpr option_seconds listing_pause_range{std::chrono::seconds{0},
                                             std::chrono::hours{720},
                                             std::chrono::seconds{0}};

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

/// The rest of an upstream whose listing makes mostly false claims. It doubles
/// with each further page, up to the interval of audits.
constexpr auto listing_mistrust_min = 60s;

} // namespace weir::limits
