#pragma once

namespace weir {

/// Names the calling thread, so that operators see the name in `top -H`,
/// `strace -Y` and debuggers.
/// @param name At most 15 bytes are shown.
void name_thread(const char* name) noexcept;

} // namespace weir
