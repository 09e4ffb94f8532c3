#pragma once

#include "tests/sim/trial.hpp"

#include <cstdint>
#include <optional>
#include <set>
#include <string>

namespace weir::sim {

/// The options of `weir-sim`.
struct command {
  uint64_t first = 1; ///< First seed; `last` is the last one, included.
  uint64_t last = 500;
  size_t jobs = 1;         ///< Processes that share the seeds.
  size_t failures_max = 1; ///< It stops after this number of failures.
  bool trace = false;      ///< Writes the trace of one seed to the output.
  bool log = false;        ///< Writes the node's own log to the error output.
  bool each = false;       ///< Prints a line for each seed.
  bool table = false; ///< Prints how often each thing happened in all runs.
  bool whole = false; ///< Fails unless every kind of deed happened.
  bool shrink = true; ///< Leaves out the deeds that a failure does not need.
  /// The numbers of the deeds to carry out.
  std::optional<std::set<size_t>> only;
  size_t threads = 1; ///< Setting of the node; one thread does all its work.
  /// A name of the table that counts as a failure, to see one.
  std::string fail_on;
};

/// Errors: `ec::invalid_argument`, with a sentence.
result<command> parse_command(int argc, char** argv);

/// The help text.
const char* usage() noexcept;

/// Runs the seeds. @returns the number of failures.
size_t run_command(const command& x);

} // namespace weir::sim
