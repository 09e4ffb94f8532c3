#pragma once

#include <filesystem>
#include <string>

namespace weir::tests {

/// The content of a zstd file. Throws when it cannot be read.
std::string read_zstd_file(const std::filesystem::path& path);

} // namespace weir::tests
