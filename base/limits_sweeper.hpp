#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

/// How much of a store's time erasing takes (actors/sweeper).
namespace weir::limits {

/// Erasings looked at and compacted together.
constexpr size_t sweep_repos_max = 1'024;
/// Parts of the content that are compacted one by one; those that lie next to
/// each other become one.
constexpr size_t compaction_ranges_max = 16;
/// While the JOURNAL has other work, one step and then so long none.
constexpr std::chrono::milliseconds sweep_pause{100};
/// Bytes of content that one compaction reads, about: it cannot be cut short.
constexpr uint64_t compaction_slice_bytes = 67'108'864;
/// A compaction that took a second is followed by so many without one.
constexpr int compaction_rest_factor = 9;

} // namespace weir::limits
