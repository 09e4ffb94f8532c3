#pragma once

#include <cstddef>

/// Limits of `base`, and of several folders that do not include each other: the
/// value itself is allowed, value + 1 is not.
namespace weir::limits {

// -- stream frames ------------------------------------------------------------

constexpr size_t frame_bytes_max = 5'000'000;

// -- options of a node --------------------------------------------------------

/// Upstreams of one node, and relays that the row of a repo names.
constexpr size_t upstreams_max = 1'024;

/// Bytes of one value that a line of our log shows.
constexpr size_t log_value_bytes_max = 2'048;

/// How much free memory a thread keeps at the end of its heap, and the size
/// from which an allocation is returned to the system by itself. Smaller
/// numbers cost more system calls.
constexpr int heap_top_bytes_max = 4'194'304;
constexpr int heap_mapped_bytes_min = 4'194'304;

} // namespace weir::limits
