#pragma once

#include "tests/sim/command.hpp"

#include <iosfwd>
#include <map>
#include <string>

namespace weir::sim {

/// The sum of many runs.
struct summary {
  uint64_t runs = 0;
  uint64_t failures = 0;
  uint64_t steps = 0;
  uint64_t virtual_seconds = 0;
  /// The longest time, in seconds, from the last fault to the settled state.
  uint64_t settled_max = 0;
  std::map<std::string, uint64_t> counts;

  void add(const verdict& x);
};

/// Runs all seeds of a command in the number of processes that it names, and
/// prints what fails together with the command that repeats it.
summary run_seeds(const command& x);

/// One run as a line of text.
std::string line_of(uint64_t seed, const verdict& x);

/// Kinds of deeds, of faults and of runs that never took effect or were never
/// drawn in all runs.
std::set<std::string> missing_kinds(const summary& x);

void print_table(const summary& x, std::ostream& out);

} // namespace weir::sim
