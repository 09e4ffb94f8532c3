#pragma once

#include <string>

namespace weir::sim {

/// A property does not hold: ends the run, and is its verdict.
struct broken {
  std::string what; ///< The property, as docs/simulator.md names it.
  std::string how;  ///< What was seen, in words.
};

} // namespace weir::sim
