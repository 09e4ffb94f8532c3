#pragma once

namespace weir {

/// Names the calling thread, for operators: `top -H`, `strace -Y`, debuggers.
/// @param name At most 15 bytes are shown.
void name_thread(const char* name) noexcept;

} // namespace weir
