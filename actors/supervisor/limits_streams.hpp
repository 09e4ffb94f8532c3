#pragma once

#include "actors/supervisor/limits.hpp"
#include "base/option_range.hpp"

#include <chrono>
#include <cstddef>

/// Bounds that `actors/supervisor` keeps. A name says the thing and the unit.
/// The value itself is accepted; value + 1 is refused.
namespace weir::limits {

using namespace std::chrono_literals;

/// Pages of listings that an upstream is asked for in an hour: a thousand repos
/// are compared every minute or two, a million daily.
constexpr option_range<size_t> listing_requests_range{1, 100'000, 50};

/// From the end of a listing to the next one by interval, however few pages it has.
constexpr option_seconds listing_pause_range{std::chrono::seconds{0},
                                             std::chrono::hours{720},
                                             std::chrono::seconds{0}};

/// DIDs of one page that are looked at because it claims them: as many as were
/// asked for.
constexpr size_t claims_of_page_max = listing_page_asked;

/// What claims may hold, of all listings together; a page for which there is no
/// room is asked for again later. Each costs this beside the texts of its DID,
/// of which there are three.
constexpr size_t claims_bytes_max = 8'388'608;
constexpr size_t claim_entry_bytes = 256;

/// A listing is judged after so many claims, and forgets half of them after ten
/// times as many.
constexpr size_t claims_judged_min = 50;

/// A directory that is away is asked again after this, so many times for one
/// claim.
constexpr auto claim_retry = 10s;
constexpr size_t claim_tries_max = 5;

/// The rest of an upstream whose listing claims what is not so; it doubles with
/// each further page, up to the interval of audits.
constexpr auto listing_mistrust_min = 60s;

} // namespace weir::limits
