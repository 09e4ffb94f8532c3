#pragma once

#include <chrono>
#include <cstddef>

namespace weir::tests {

/// How long a test waits for what must come; nothing is slept through.
inline constexpr std::chrono::seconds node_patience{60};

inline constexpr size_t megabyte = 1'048'576;

} // namespace weir::tests
