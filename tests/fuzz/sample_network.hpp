#pragma once

#include "base/bytes.hpp"

#include <vector>

namespace weir::fuzz {

/// What a small simulated network says; the same each time.
struct sample_network {
  std::vector<bytes> frames;    ///< Of its relay.
  std::vector<bytes> exports;   ///< CARs of whole repositories.
  std::vector<bytes> slices;    ///< CARs inside commit frames.
  std::vector<bytes> nodes;     ///< Blocks of search trees.
  std::vector<bytes> records;   ///< Blocks.
  std::vector<bytes> documents; ///< DID documents.
};

/// Made at the first call.
const sample_network& sample();

} // namespace weir::fuzz
