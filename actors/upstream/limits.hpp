#pragma once

#include <chrono>
#include <cstddef>

/// Bounds that `actors/upstream` keeps. A name says the thing and the unit.
/// The value itself is accepted; value + 1 is refused.
namespace weir::limits {

using namespace std::chrono_literals;

/// Frames of one upstream between socket read and durable.
constexpr size_t upstream_frames_max = 1'024;

/// They share this, down to the least: a frame waits for those of the others.
constexpr size_t all_upstreams_frames_max = 4'096;
constexpr size_t upstream_frames_min = 64;
constexpr size_t upstream_bytes_max = 16'777'216;

/// Frames forwarded to ROUTERs in one message.
constexpr size_t frame_batch_max = 256;

/// A malformed frame at one cursor is stepped over after this many tries.
constexpr size_t bad_frame_tries_max = 3;

/// So many ends of the process step over a frame; it is looked for so long.
constexpr size_t poison_frame_ends_max = 3;
constexpr auto careful_time_max = 60s;
constexpr auto upstream_backoff_min = 1s;
constexpr auto upstream_backoff_max = 60s;
constexpr auto cursor_write_interval = 1s;
constexpr size_t refused_frame_cost = 50; ///< So many events of that rate.

/// What waits for a right clock leaves one of so many parts of its stream's
/// window to those who are heard.
constexpr size_t clock_window_part = 2;

/// A stream that had to be dialled anew so often because nobody read it, each
/// time within `health_memory` of the last, is a cause.
constexpr size_t health_stalls_min = 2;

/// A socket that should be read and is not, for so long, is dialled anew
/// (architecture.md, Health).
constexpr auto credit_stall_max = 10s;

/// A stream that ended is dialled again up to this part of its wait later.
constexpr int upstream_jitter_part = 4;

/// A host that calls us too slow so often within this time does it frequently
/// (protocol-coverage.md 1.14): an operator should know.
constexpr size_t too_slow_often = 3;
constexpr std::chrono::minutes too_slow_window{60};

/// Finished frames of a stream of which the middle one says how far it is: an
/// odd number.
constexpr size_t passed_frames = 31;

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
