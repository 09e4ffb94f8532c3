#pragma once

#include "simnet/world.hpp"
#include "tests/sim/settings.hpp"

#include <map>
#include <set>
#include <string>

namespace weir::sim {

/// Gives one run in six hostile hosts beside the honest ones. What they do
/// without end is scaled, not the node: short pages, roads that carry little.
/// Draws from a source of its own, so that other runs stay what they were.
void draw_enemies(run_settings& out);

/// How often a run has what is drawn here and in crowds.hpp, by name.
void count_settings(const run_settings& x,
                    std::map<std::string, uint64_t>& counts);

/// All names that `count_settings` knows.
std::set<std::string> counted_settings();

/// Whether an account of this number lives, or began, at a hostile host.
bool is_of_enemy(const simnet::world& truth, const std::string& did);

} // namespace weir::sim
