#pragma once

#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <string>

namespace weir::tests {

inline constexpr size_t megabyte = 1'048'576;

/// A size from the environment, for the large forms of a test
/// (docs/testing.md).
inline size_t wished(const char* variable, size_t standard) {
  const auto* text = std::getenv(variable);
  return text == nullptr ? standard : std::stoul(text);
}

/// What a limit on a process's memory adds for the sanitizer (red zones, and
/// freed memory that is not reused yet), and how many times slower a program is
/// with it.
#ifdef __SANITIZE_ADDRESS__
inline constexpr size_t memory_slack = 1'024 * megabyte;
inline constexpr unsigned slowness = 6;
#else
inline constexpr size_t memory_slack = 0;
inline constexpr unsigned slowness = 1;
#endif

/// How long a test waits for an event that must come. It returns as soon as it
/// comes.
inline constexpr std::chrono::seconds node_patience{60 * slowness};

} // namespace weir::tests
