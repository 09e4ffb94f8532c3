#pragma once

#include "tests/sim/scene.hpp"

#include <optional>
#include <ostream>
#include <set>
#include <string>

namespace weir::sim {

/// The result of one run.
struct verdict {
  std::string broken; ///< The property that does not hold; empty: all hold.
  std::string how;
  uint64_t trace_hash = 0;
  uint64_t steps = 0;
  std::chrono::seconds virtual_time{0};
  std::chrono::seconds settled_after{0}; ///< Time since the last fault.
  /// How often each deed happened, by name.
  std::map<std::string, uint64_t> counts;
  /// Number drawn from the seed, including those that were left out.
  size_t deeds = 0;

  bool good() const noexcept { return broken.empty(); }
};

struct trial_options {
  std::ostream* trace_out = nullptr; ///< Null: the trace is only hashed.
  /// Numbers of the deeds that are carried out, from 0; no value: all.
  std::optional<std::set<size_t>> only;
  size_t threads = 1; ///< The number of threads that the node is told to use.
};

/// Performs one run: makes a world and a node, carries out the deeds, and
/// checks the properties that must hold.
verdict run_trial(uint64_t seed, const trial_options& options = {});

} // namespace weir::sim
