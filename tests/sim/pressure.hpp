#pragma once

#include "tests/sim/deeds.hpp"
#include "tests/sim/settings.hpp"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace weir::sim {

/// Scales the limits of some nodes down, so that small worlds fill their queues
/// and tables, and gives one run in five a theme: its events are chosen to
/// exercise one kind of rule. It has random sources of its own, so that all
/// other draws of a seed stay the same.
void draw_pressure(run_settings& out);

/// Adds the deeds of a round of a run with a theme; other runs are not changed.
void press(const run_settings& settings, size_t round,
           std::vector<deed>& deeds);

/// Counts which settings of this file a run has, by name.
void count_pressure(const run_settings& x,
                    std::map<std::string, uint64_t>& counts);

/// All names that `count_pressure` uses.
std::set<std::string> counted_pressures();

} // namespace weir::sim
