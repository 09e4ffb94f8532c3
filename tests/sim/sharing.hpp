#pragma once

#include "base/clock.hpp"
#include "tests/sim/scene.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <string>

namespace weir::sim {

/// Checks how honest hosts share a node with each other, in a run of this seed
/// without its deeds. The first account of each host, whatever its name, must
/// be complete when about as many accounts are complete as there are hosts. A
/// repo that falls out of sync must be complete again long before all repos
/// that were never fetched. Empty when that holds.
std::string weigh_sharing(uint64_t seed, trace& log);

} // namespace weir::sim
