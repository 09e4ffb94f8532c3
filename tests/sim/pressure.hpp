#pragma once

#include "tests/sim/deeds.hpp"
#include "tests/sim/settings.hpp"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace weir::sim {

/// Scales the bounds of some nodes down, so that small worlds fill their queues
/// and tables, and gives one run in five a theme: what happens in it is chosen
/// to meet one kind of rule. Draws from sources of its own, so that other runs
/// stay what they were.
void draw_pressure(run_settings& out);

/// Deeds of a round of a run with a theme; others keep what was drawn.
void press(const run_settings& settings, size_t round,
           std::vector<deed>& deeds);

/// How often a run has what is drawn here, by name.
void count_pressure(const run_settings& x,
                    std::map<std::string, uint64_t>& counts);

/// All names that it knows.
std::set<std::string> counted_pressures();

} // namespace weir::sim
