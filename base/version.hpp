#pragma once

namespace weir {

/// Version of the programs as `major.minor.patch`, set by the build system.
const char* version() noexcept;

} // namespace weir
