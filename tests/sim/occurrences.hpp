#pragma once

#include "tests/sim/performer.hpp"
#include "tests/sim/scene.hpp"

#include <cstdint>
#include <map>
#include <set>
#include <string>

namespace weir::sim {

/// What happened in a run, by name: deeds are counted when they are carried out,
/// and what is merely ordered (faults of requests and of the disk) once more as
/// "met" when somebody met it.
using occurrences = std::map<std::string, uint64_t>;

/// Which server, which way and how much: a deed's finer names.
void count_details(const deed& x, occurrences& counts);

/// What became of orders in the whole run.
void count_met(scene& x, const performer& done, occurrences& counts);

/// All names of both.
std::set<std::string> known_details();

} // namespace weir::sim
