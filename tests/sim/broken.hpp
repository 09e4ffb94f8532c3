#pragma once

#include <string>

namespace weir::sim {

/// Thrown when a property does not hold: ends the run and is its verdict.
struct broken {
  std::string what; ///< The property, as docs/simulator.md names it.
  std::string how;  ///< What was observed, in words.
};

} // namespace weir::sim
