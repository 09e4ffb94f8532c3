#pragma once

namespace weir {

/// Version of the programs, `major.minor.patch`, from the build system.
const char* version() noexcept;

} // namespace weir
