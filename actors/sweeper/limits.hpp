#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

/// Limits of `actors/sweeper`: the value itself is allowed, value + 1 is not.
namespace weir::limits {

using namespace std::chrono_literals;

/// Erasings that are looked at and compacted together.
constexpr size_t sweep_repos_max = 1'024;

/// Ranges of content, and of waiting commits, that are compacted one by one.
constexpr size_t compaction_ranges_max = 256;

/// While the JOURNAL has other work, each step is followed by this pause.
constexpr std::chrono::milliseconds sweep_pause{100};

/// Bytes of content, about, of one compaction: it cannot be interrupted.
constexpr uint64_t compaction_slice_bytes = 67'108'864;

/// A compaction is followed by a rest of this many times its own length.
constexpr int compaction_rest_factor = 9;

/// A failed operation is retried after the first time, and then after twice the
/// last wait, up to the second time.
constexpr std::chrono::seconds sweep_retry_min{1};
constexpr std::chrono::seconds sweep_retry_max{300};

/// Operations, about, whose blocks one step of trimming the log looks at and
/// has removed: the JOURNAL reads as many record heads for it, in milliseconds.
constexpr size_t trim_step_ops_max = 1'024;

/// The rest after a step, and after a lap, in times of its own length.
constexpr int trim_rest_factor = 4;
constexpr int trim_pause_factor = 9;

/// How often, at most, the bytes of what was trimmed or replaced are removed
/// from the disk: that rewrites tables in which any of it is. LevelDB's own
/// compactions remove most of it before.
constexpr std::chrono::microseconds purge_pause = 24h;

/// The wait after a purge that could not remove everything, perhaps because a
/// reader used a table.
constexpr std::chrono::microseconds purge_retry = 5min;

/// The shortest time between two laps: the time index knows minutes.
constexpr std::chrono::microseconds trim_pause_min = 1min;

} // namespace weir::limits
