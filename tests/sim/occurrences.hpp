#pragma once

#include "tests/sim/performer.hpp"
#include "tests/sim/scene.hpp"

#include <cstdint>
#include <map>
#include <set>
#include <string>

namespace weir::sim {

/// What happened in a run, by name. Deeds are counted when they are carried
/// out. Faults that are only armed (of requests and of the disk) are counted
/// again as "met" when they take effect.
using occurrences = std::map<std::string, uint64_t>;

/// Counts the finer names of a deed: which server, which direction and how
/// much.
void count_details(const deed& x, occurrences& counts);

/// Counts the armed faults of the whole run that took effect.
void count_met(scene& x, const performer& done, occurrences& counts);

/// All names that both functions use.
std::set<std::string> known_details();

} // namespace weir::sim
