#pragma once

#include <chrono>
#include <cstddef>

/// Bounds of counting which repos are complete: all rows are looked at, again
/// and again, a page at a time.
namespace weir::limits {

/// A connection that resumes may be silent at first, until its host begins to
/// replay; without later events it has caught up after so long a rest.
constexpr std::chrono::microseconds catch_up_quiet_min
  = std::chrono::seconds{10};
/// A busy stream that is further behind proves nothing.
constexpr std::chrono::microseconds stream_lag_max = std::chrono::minutes{5};
/// From the end of one look at all rows to the begin of the next: as long as
/// something is incomplete, and when nothing is.
constexpr std::chrono::seconds completeness_pause{5};
constexpr std::chrono::seconds completeness_pause_whole{30};
/// But so many times as long as the look took, so that a large store is read
/// for a fiftieth of the time; and at most so long.
constexpr int completeness_rest_part = 50;
constexpr std::chrono::seconds completeness_pause_max{3'600};
/// Hosts that are counted apart, those with most active accounts; in a look
/// there are up to twice as many. The rest is counted together.
constexpr size_t completeness_hosts_max = 4'096;

} // namespace weir::limits
