#pragma once

#include <chrono>
#include <cstdint>

/// When freed memory goes back to the machine.
namespace weir::limits {

using namespace std::chrono_literals;

/// The allocator is told to return freed memory when the process has grown by
/// so much (less is not worth the page faults) and at most so many bytes were
/// on their way for so long: it stops whoever allocates for some milliseconds.
constexpr uint64_t heap_return_bytes = 16'777'216;
constexpr uint64_t heap_rest_bytes = 1'048'576;
constexpr std::chrono::microseconds heap_rest_time = 10s;

/// The store gives up what it holds only to be fast (the write buffer of LevelDB,
/// its cache of blocks, the newest entries of the log) once the process has grown
/// by so much and rests, but no sooner than this after the last time: written
/// early, a buffer of a node that follows a slow stream would be many small tables.
constexpr std::chrono::microseconds cache_release_interval = 1h;

/// Free memory at the end of a thread's heap that it keeps, and allocations that
/// go back alone when they are freed. Smaller ones cost a system call more often.
constexpr int heap_top_bytes_max = 4'194'304;
constexpr int heap_mapped_bytes_min = 4'194'304;

} // namespace weir::limits
