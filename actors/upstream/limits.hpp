#pragma once

#include <chrono>
#include <cstddef>

/// Limits of `actors/upstream`: the value itself is allowed, value + 1 is not.
namespace weir::limits {

using namespace std::chrono_literals;

/// Frames of one upstream between socket read and durable.
constexpr size_t upstream_frames_max = 1'024;

constexpr size_t upstream_bytes_max = 16'777'216;

/// A stream whose seq did not rise this number of times on one connection has
/// no order: it is connected anew.
constexpr size_t seq_regressions_max = 10;

/// #info frames of one connection. Each is a line of the log.
constexpr size_t infos_per_connection_max = 100;

/// Frames forwarded to ROUTERs in one message.
constexpr size_t frame_batch_max = 256;

/// A malformed frame at one cursor is stepped over after this many tries.
constexpr size_t bad_frame_tries_max = 3;

/// A connection that steps over more bad frames in a row is ended, so that a
/// host that sends nothing else costs little. Each further one may step over as
/// many more as were stepped over before, at most `bad_frames_skipped_max`, so
/// that a long row is passed in the end.
constexpr size_t bad_frames_skipped_min = 1'000;
constexpr size_t bad_frames_skipped_max = 64'000;

/// A stream is reported as unreadable after this many bad frames in a row.
constexpr size_t health_bad_frames_min = 10;

/// A frame with which the process ended this number of times is skipped. The
/// search for it, frame by frame, lasts this long after a start.
constexpr size_t poison_frame_ends_max = 3;
constexpr auto careful_time_max = 60s;
constexpr auto upstream_backoff_min = 1s;
constexpr auto upstream_backoff_max = 60s;
constexpr auto cursor_write_interval = 1s;
/// A refused frame counts as this number of events of the stream's rate.
constexpr size_t refused_frame_cost = 50;

/// Frames that wait until the node's clock is right may fill the stream's
/// window except for this part (one half), which stays free for other frames.
constexpr size_t clock_window_part = 2;

/// When a stream was connected anew this often because its socket was not read,
/// each time within `health_memory` of the last, it is reported.
constexpr size_t health_stalls_min = 2;

/// When a socket was not read for this long without a reason, a new connection
/// replaces it (architecture.md, Health).
constexpr auto credit_stall_max = 10s;

/// A random time is added to the wait before a new connection: at most this
/// part of the wait.
constexpr int upstream_jitter_part = 4;

/// When a host calls us too slow this often within this time, an operator
/// should know (protocol-coverage.md 1.14).
constexpr size_t too_slow_often = 3;
constexpr std::chrono::minutes too_slow_window{60};

/// The median time of this number of finished frames says how far a stream is.
/// It is odd, so that one frame is in the middle.
constexpr size_t passed_frames = 31;

/// A frame that comes this long after its repo changed is in time: clocks
/// differ by seconds, and relays need some.
constexpr std::chrono::microseconds frame_delay_max = 10s;

/// When this number of frames in a row are late, their stream is late.
constexpr size_t late_frames_min = 3;

/// The smallest delay of a host's frames is known when `passed_frames` frames
/// in a row had no delay that was smaller by more than this.
constexpr std::chrono::microseconds frame_delay_jitter = 1s;

/// After late frames a silence means that nothing is missing when it lasts for
/// the longest of three times: `late_quiet_min`; a `quiet_delay_part`-th of the
/// frames' delay, but at most `quiet_by_delay_max`, since the last frame of a
/// host that was silent for hours is old; and `quiet_growth_factor` times what
/// the delay grew by in one pause. `late_quiet_max` is always enough.
constexpr std::chrono::microseconds late_quiet_min = 10s;
constexpr int quiet_delay_part = 10;
constexpr std::chrono::microseconds quiet_by_delay_max = 60s;
constexpr int quiet_growth_factor = 4;
constexpr std::chrono::microseconds late_quiet_max = 5min;

/// Number of seqs of a stream that are remembered. A late frame whose seq is
/// not among them may be an event that this node never got.
constexpr size_t recent_numbers_max = 256;

} // namespace weir::limits
