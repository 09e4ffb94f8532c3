#pragma once

#include "tests/sim/trial.hpp"

#include <cstdint>
#include <optional>
#include <set>
#include <string>

namespace weir::sim {

/// What `weir-sim` is asked to do.
struct command {
  uint64_t first = 1; ///< Seeds, both included.
  uint64_t last = 500;
  size_t jobs = 1;       ///< Processes that share the seeds.
  size_t failures_max = 1; ///< After so many it ends.
  bool trace = false;    ///< Of one seed, to the output.
  bool log = false;      ///< The node's own log, to the error output.
  bool each = false;     ///< A line for each seed.
  bool table = false;    ///< Of what happened in all runs.
  bool whole = false;    ///< Every kind of deed must have happened.
  bool shrink = true;    ///< Deeds that a failure does not need are left out.
  std::optional<std::set<size_t>> only; ///< Numbers of deeds.
  size_t threads = 1;    ///< Of the node; all it does is done by one.
  std::string fail_on;   ///< Something of the table, to see a failure.
};

/// Errors: `ec::invalid_argument`, with a sentence.
result<command> parse_command(int argc, char** argv);

/// How it is used.
const char* usage() noexcept;

/// Runs the seeds. @returns how many failed.
size_t run_command(const command& x);

} // namespace weir::sim
