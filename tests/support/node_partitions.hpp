#pragma once

#include <cstddef>
#include <cstdlib>
#include <string>

namespace weir::tests {

/// The number of partitions that the nodes of a test program have: the value of
/// WEIR_PARTITIONS, which nodes in processes of their own read, too, or one.
inline size_t node_partitions() {
  const auto* text = std::getenv("WEIR_PARTITIONS");
  return text == nullptr ? 1 : std::stoul(text);
}

} // namespace weir::tests
