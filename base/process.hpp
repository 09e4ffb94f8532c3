#pragma once

#include <cstdint>
#include <string>

namespace weir {

/// Bytes of this process that are in RAM, or 0 when the system does not say.
uint64_t resident_bytes();

/// The most memory, in bytes, that this process may use: that of the machine,
/// or less when a control group (version 2) limits it, as for services and
/// containers. 0 when the system does not say.
/// @param root Directory that contains /proc and /sys; tests pass another.
uint64_t memory_bytes_max(const std::string& root = {});

/// Limits how much freed memory the allocator keeps. Without this, one large
/// allocation teaches it to keep tens of megabytes per thread, which
/// `return_free_memory` cannot give back. Call it once, before threads start.
void limit_free_memory();

/// Returns free memory to the operating system. It takes milliseconds.
void return_free_memory();

/// Names the calling thread, so that operators see the name in `top -H`,
/// `strace -Y` and debuggers.
/// @param name At most 15 bytes are shown.
void name_thread(const char* name) noexcept;

} // namespace weir
