#pragma once

#include "simnet/world.hpp"
#include "tests/sim/settings.hpp"

#include <map>
#include <set>
#include <string>

namespace weir::sim {

/// Gives one run in six hostile hosts beside the honest ones. Their endless
/// answers are scaled down instead of the node's limits: short pages, slow
/// connections. It has a random source of its own, so that all other draws of a
/// seed stay the same.
void draw_enemies(run_settings& out);

/// Counts which settings of this file and of crowds.hpp a run has, by name.
void count_settings(const run_settings& x,
                    std::map<std::string, uint64_t>& counts);

/// All names that `count_settings` knows.
std::set<std::string> counted_settings();

/// Whether this account lives, or was created, at a hostile host.
bool is_of_enemy(const simnet::world& truth, const std::string& did);

} // namespace weir::sim
