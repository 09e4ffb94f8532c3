#pragma once

#include "tests/sim/scene.hpp"

#include <optional>
#include <ostream>
#include <set>
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
  size_t deeds = 0; ///< Drawn from the seed, left out or not.

  bool good() const noexcept { return broken.empty(); }
};

struct trial_options {
  std::ostream* trace_out = nullptr; ///< Null: the trace is only hashed.
  /// Numbers of the deeds that are carried out, from 0; nothing: all.
  std::optional<std::set<size_t>> only;
  size_t threads = 1; ///< That the node is told to have.
};

/// One run: a world, a node, what happens to them, and what must hold.
verdict run_trial(uint64_t seed, const trial_options& options = {});

} // namespace weir::sim
