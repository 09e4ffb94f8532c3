#pragma once

#include "base/bytes.hpp"

#include <vector>

namespace weir::fuzz {

/// The output of a small simulated network, which is always the same.
struct sample_network {
  std::vector<bytes> frames;    ///< Frames of its relay.
  std::vector<bytes> exports;   ///< CARs of complete repos.
  std::vector<bytes> slices;    ///< CARs inside commit frames.
  std::vector<bytes> nodes;     ///< Blocks of search trees.
  std::vector<bytes> records;   ///< Record blocks.
  std::vector<bytes> documents; ///< DID documents.
};

/// The sample is made at the first call.
const sample_network& sample();

} // namespace weir::fuzz
