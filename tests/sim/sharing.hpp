#pragma once

#include "base/clock.hpp"
#include "tests/sim/scene.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <string>

namespace weir::sim {

/// How honest hosts share a node with each other, in a run of this seed without
/// its deeds: the first account of each is whole when about as many are as there
/// are hosts, whatever it is called; and a repo that falls out of sync is whole
/// again long before all that were never fetched. Empty: so it is.
std::string weigh_sharing(uint64_t seed, trace& log);

} // namespace weir::sim
