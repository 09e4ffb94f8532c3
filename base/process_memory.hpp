#pragma once

#include <cstdint>
#include <string>

namespace weir {

/// Memory of this process that is in RAM; 0 where the system does not tell.
uint64_t resident_bytes();

/// What this process may have at most: the memory of the machine, or less where a
/// control group (version 2) bounds it, as that of a service or container; 0 where
/// the system does not tell.
/// @param root Below which /proc and /sys are looked for.
uint64_t memory_bytes_max(const std::string& root = {});

/// Bounds what the allocator keeps: it would learn from the largest allocation
/// to keep tens of megabytes for each thread, of which `return_free_memory` gives
/// nothing back. Once, before there are threads.
void limit_free_memory();

/// Gives memory that nothing holds back to the system. Takes milliseconds.
void return_free_memory();

} // namespace weir
