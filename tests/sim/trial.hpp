#pragma once

#include "tests/sim/scene.hpp"

#include <string>

namespace weir::sim {

/// What became of one run.
struct verdict {
  std::string broken; ///< The property; empty: all hold.
  std::string how;
  uint64_t trace_hash = 0;
  uint64_t steps = 0;
  std::chrono::seconds virtual_time{0};
  std::chrono::seconds settled_after{0}; ///< The last fault.
  std::map<std::string, uint64_t> counts; ///< Of deeds, by name.

  bool good() const noexcept { return broken.empty(); }
};

/// One run: a world, a node, what happens to them, and what must hold.
verdict run_trial(uint64_t seed, std::ostream* trace_out);

} // namespace weir::sim
