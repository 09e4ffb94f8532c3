#pragma once

#include "base/limits.hpp"

/// Bounds of streams and listings.
namespace weir::limits {

/// A socket that should be read and is not, for so long, is dialled anew
/// (architecture.md 9).
constexpr auto credit_stall_max = 10s;

/// A stream that ended is dialled again up to this part of its wait later.
constexpr int upstream_jitter_part = 4;
/// A host that calls us too slow so often within this time does it frequently
/// (protocol.md 1.14): an operator should know.
constexpr size_t too_slow_often = 3;
constexpr std::chrono::minutes too_slow_window{60};

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

/// Finished frames of a stream of which the middle one says how far it is: an
/// odd number.
constexpr size_t passed_frames = 31;
/// A stream whose last frames came in time, and which is quiet for so long, has
/// told all.
constexpr std::chrono::microseconds passed_quiet_min = 2s;
/// A frame that comes so long after its repo changed is in time: clocks of hosts
/// differ by seconds, and relays need some.
constexpr std::chrono::microseconds frame_delay_max = 10s;
/// So many late ones in a row say that their stream is late.
constexpr size_t late_frames_min = 3;
/// The least delay of a host's frames is known once no frame came by more than
/// this sooner than those before it, as often as `passed_frames`.
constexpr std::chrono::microseconds frame_delay_jitter = 1s;
/// After late frames a silence means something that is at least so long, at least
/// this part of their delay (but no more than `quiet_by_delay_max`, since the
/// last news of a host that is silent for hours are old), and this many times as
/// long as one pause made them later. No more than `late_quiet_max`, where bytes
/// that come so slowly are the host's fault.
constexpr std::chrono::microseconds late_quiet_min = 10s;
constexpr int quiet_delay_part = 10;
constexpr std::chrono::microseconds quiet_by_delay_max = 60s;
constexpr int quiet_growth_factor = 4;
constexpr std::chrono::microseconds late_quiet_max = 5min;

/// Of a stream: a frame that comes back within so many is known. One that was
/// not among them may be an event that is missing here.
constexpr size_t recent_numbers_max = 256;

} // namespace weir::limits
