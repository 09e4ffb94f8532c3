#pragma once

#include <chrono>
#include <cstddef>

/// Limits of `actors/upstream`: the value itself is allowed, value + 1 is not.
namespace weir::limits {

using namespace std::chrono_literals;

/// Frames of one upstream between socket read and durable.
constexpr size_t upstream_frames_max = 1'024;

/// All upstreams share this number, but each has `upstream_frames_min`.
constexpr size_t all_upstreams_frames_max = 4'096;
constexpr size_t upstream_frames_min = 64;
constexpr size_t upstream_bytes_max = 16'777'216;

/// Frames forwarded to ROUTERs in one message.
constexpr size_t frame_batch_max = 256;

/// A malformed frame at one cursor is stepped over after this many tries.
constexpr size_t bad_frame_tries_max = 3;

/// A frame is stepped over after this number of ends; it is sought this long.
constexpr size_t poison_frame_ends_max = 3;
constexpr auto careful_time_max = 60s;
constexpr auto upstream_backoff_min = 1s;
constexpr auto upstream_backoff_max = 60s;
constexpr auto cursor_write_interval = 1s;
constexpr size_t refused_frame_cost = 50; ///< So many events of that rate.

/// What waits for a right clock leaves one of so many parts of its stream's
/// window to those who are heard.
constexpr size_t clock_window_part = 2;

/// A stream that was dialled anew this often because nobody read it, each time
/// within `health_memory` of the last, is a finding.
constexpr size_t health_stalls_min = 2;

/// A socket that should be read and is not for this long is dialled anew
/// (architecture.md, Health).
constexpr auto credit_stall_max = 10s;

/// A stream that ended is dialled again up to this part of its wait later.
constexpr int upstream_jitter_part = 4;

/// When a host calls us too slow this often within this time, an operator
/// should know (protocol-coverage.md 1.14).
constexpr size_t too_slow_often = 3;
constexpr std::chrono::minutes too_slow_window{60};

/// Finished frames whose median says how far a stream is: an odd number.
constexpr size_t passed_frames = 31;

/// A frame that comes this long after its repo changed is in time: clocks
/// differ by seconds, and relays need some.
constexpr std::chrono::microseconds frame_delay_max = 10s;

/// So many late ones in a row say that their stream is late.
constexpr size_t late_frames_min = 3;

/// The least delay of a host's frames is known when `passed_frames` frames in a
/// row were not faster by more than this.
constexpr std::chrono::microseconds frame_delay_jitter = 1s;

/// After late frames a silence counts when it lasts for `late_quiet_min`, for
/// this part of their delay (at most `quiet_by_delay_max`, since the last news
/// of a host that is silent for hours are old), and for this many times the
/// growth of the delay in one pause; `late_quiet_max` is always enough.
constexpr std::chrono::microseconds late_quiet_min = 10s;
constexpr int quiet_delay_part = 10;
constexpr std::chrono::microseconds quiet_by_delay_max = 60s;
constexpr int quiet_growth_factor = 4;
constexpr std::chrono::microseconds late_quiet_max = 5min;

/// Numbers that are remembered of a stream: a late frame that is not among them
/// may be an event that is missing here.
constexpr size_t recent_numbers_max = 256;

} // namespace weir::limits
