#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

/// Bounds that `actors/sweeper` keeps. A name says the thing and the unit.
/// The value itself is accepted; value + 1 is refused.
namespace weir::limits {

using namespace std::chrono_literals;

/// Erasings looked at and compacted together.
constexpr size_t sweep_repos_max = 1'024;

/// Parts of the content, and of what waited for repos, that are compacted one
/// by one.
constexpr size_t compaction_ranges_max = 256;

/// While the JOURNAL has other work, one step and then so long none.
constexpr std::chrono::milliseconds sweep_pause{100};

/// Bytes of content that one compaction reads, about: it cannot be cut short.
constexpr uint64_t compaction_slice_bytes = 67'108'864;

/// A compaction that took a second is followed by so many without one.
constexpr int compaction_rest_factor = 9;

/// What failed is tried again so soon, then after twice the time, up to this.
constexpr std::chrono::seconds sweep_retry_min{1};
constexpr std::chrono::seconds sweep_retry_max{300};

} // namespace weir::limits
