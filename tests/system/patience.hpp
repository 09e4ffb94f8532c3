#pragma once

#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <string>

namespace weir::tests {

/// How long a test waits for what must come; nothing is slept through.
inline constexpr std::chrono::seconds node_patience{60};

inline constexpr size_t megabyte = 1'048'576;

/// A size from the environment, for the large forms (docs/testing.md).
inline size_t wished(const char* variable, size_t standard) {
  const auto* text = std::getenv(variable);
  return text == nullptr ? standard : std::stoul(text);
}

} // namespace weir::tests
