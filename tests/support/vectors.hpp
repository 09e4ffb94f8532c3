#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

// Test vectors from other projects. They are read where they are, below the
// folder that the build was configured with (CMake variable WEIR_SHARED), and
// are never part of this repository. The folder may be absent.

namespace weir::tests {

/// `relative` below the shared folder, whether or not it exists.
inline std::filesystem::path shared_path(std::string_view relative) {
  return std::filesystem::path{WEIR_SHARED_DIR} / relative;
}

/// A file of this repository, below `tests/data`.
inline std::filesystem::path data_path(std::string_view relative) {
  return std::filesystem::path{WEIR_TEST_DATA_DIR} / relative;
}

/// True when an absent vector is a failure: the environment says
/// WEIR_REQUIRE_VECTORS=1, as `.ci/run` does.
inline bool vectors_required() {
  const char* value = std::getenv("WEIR_REQUIRE_VECTORS");
  return value != nullptr && std::string_view{value} == "1";
}

/// The whole file. Throws when it cannot be read, which fails the test.
inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream in{path, std::ios::binary};
  in.exceptions(std::ios::badbit | std::ios::failbit);
  return {std::istreambuf_iterator<char>{in}, std::istreambuf_iterator<char>{}};
}

/// The lines of a text file without CR and LF. Empty lines and lines that begin
/// with `#` are left out, as the vectors' own readers do.
inline std::vector<std::string>
read_vector_lines(const std::filesystem::path& path) {
  std::ifstream in{path, std::ios::binary};
  if (!in)
    throw std::filesystem::filesystem_error{
      "cannot read", path, std::make_error_code(std::errc::io_error)};
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) {
    if (!line.empty() && line.back() == '\r')
      line.pop_back();
    if (!line.empty() && line.front() != '#')
      lines.push_back(std::move(line));
  }
  return lines;
}

} // namespace weir::tests

/// Declares `variable`, the path of a vector file or folder, in a test's body.
/// When the path does not exist, the test is skipped with the reason, or fails
/// when vectors are required.
///
///   WEIR_VECTORS(path, "vectors/atproto-interop-tests/syntax");
#define WEIR_VECTORS(variable, relative)                                       \
  const auto variable = ::weir::tests::shared_path(relative);                  \
  if (!std::filesystem::exists(variable)) {                                    \
    if (::weir::tests::vectors_required())                                     \
      FAIL() << "required vectors are absent: " << variable;                   \
    GTEST_SKIP() << "VECTORS ABSENT, NOTHING TESTED: " << variable;            \
  }                                                                            \
  static_assert(true)
