#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace weir::tests {

/// Writes a file that only its owner may read.
inline void write_private(const std::string& path, std::string_view text) {
  std::ofstream{path} << text;
  using std::filesystem::perms;
  std::filesystem::permissions(path, perms::owner_read | perms::owner_write);
}

} // namespace weir::tests
