#pragma once

#include <cstddef>
#include <cstdlib>
#include <string>

namespace weir::tests {

/// How many partitions the nodes of a test program have: WEIR_PARTITIONS, which
/// nodes that are processes of their own read, too, or one.
inline size_t node_partitions() {
  const auto* text = std::getenv("WEIR_PARTITIONS");
  return text == nullptr ? 1 : std::stoul(text);
}

} // namespace weir::tests
