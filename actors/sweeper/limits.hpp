#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

/// Bounds that `actors/sweeper` keeps. A name says the thing and the unit.
/// The value itself is accepted; value + 1 is refused.
namespace weir::limits {

using namespace std::chrono_literals;

/// Erasings that are looked at and compacted together.
constexpr size_t sweep_repos_max = 1'024;

/// Ranges of the content, and of the commits that waited for repos, that are
/// compacted one by one.
constexpr size_t compaction_ranges_max = 256;

/// While the JOURNAL has other work, each step is followed by a pause of this
/// length.
constexpr std::chrono::milliseconds sweep_pause{100};

/// The approximate bytes of content that one compaction reads, since a
/// compaction cannot be interrupted.
constexpr uint64_t compaction_slice_bytes = 67'108'864;

/// A compaction is followed by a rest of this many times its own length.
constexpr int compaction_rest_factor = 9;

/// A failed operation is retried after the first time, and then after twice the
/// last wait, up to the second time.
constexpr std::chrono::seconds sweep_retry_min{1};
constexpr std::chrono::seconds sweep_retry_max{300};

} // namespace weir::limits
