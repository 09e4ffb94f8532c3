#pragma once

#include <cstddef>

/// Bounds that several folders keep that do not see each other. A name says the
/// thing and the unit. The value itself is accepted; value + 1 is refused.
namespace weir::limits {

// -- stream frames ------------------------------------------------------------

constexpr size_t frame_bytes_max = 5'000'000;

// -- outward wires ------------------------------------------------------------

/// Partitions of one log.
constexpr size_t partitions_max = 256;

// -- options of a node --------------------------------------------------------

/// What a line of our log shows of one value.
constexpr size_t log_value_bytes_max = 2'048;

/// Free memory at the end of a thread's heap that it keeps, and allocations that
/// go back alone when they are freed. Smaller ones cost a system call more often.
constexpr int heap_top_bytes_max = 4'194'304;
constexpr int heap_mapped_bytes_min = 4'194'304;

} // namespace weir::limits
