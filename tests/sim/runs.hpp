#pragma once

#include "tests/sim/command.hpp"

#include <iosfwd>
#include <map>
#include <string>

namespace weir::sim {

/// What many runs were together.
struct summary {
  uint64_t runs = 0;
  uint64_t failures = 0;
  uint64_t steps = 0;
  uint64_t virtual_seconds = 0;
  uint64_t settled_max = 0; ///< Seconds after the last fault, at most.
  std::map<std::string, uint64_t> counts;

  void add(const verdict& x);
};

/// Runs all seeds of a command, in as many processes as it says, and prints
/// what fails, with the command that repeats it.
summary run_seeds(const command& x);

/// One run on one line.
std::string line_of(uint64_t seed, const verdict& x);

/// Kinds of deeds, of faults and of runs that came to nothing, or were not drawn, in
/// all runs.
std::set<std::string> missing_kinds(const summary& x);

void print_table(const summary& x, std::ostream& out);

} // namespace weir::sim
