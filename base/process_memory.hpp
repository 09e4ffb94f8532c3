#pragma once

#include <cstdint>

namespace weir {

/// Memory of this process that is in RAM; 0 where the system does not tell.
uint64_t resident_bytes();

/// Gives memory that nothing holds back to the system. Takes milliseconds.
void return_free_memory();

} // namespace weir
