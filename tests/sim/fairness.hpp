#pragma once

#include "tests/sim/scene.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace weir::sim {

/// When the accounts of honest hosts were whole at node and application: after
/// the start, and after each time that all of them wrote something. By DID.
using settling = std::vector<std::map<std::string, std::chrono::microseconds>>;

/// Runs a seed without its deeds.
/// @param enemies Whether its hostile hosts are there.
settling measure_settling(uint64_t seed, bool enemies, trace& log);

/// Fairness: beside hostile hosts, an account of an honest host is whole within
/// twice the time that it needs without them, and `slack`: small worlds are whole
/// after few seconds, and a host is known to be slow only after some. Empty: so it
/// is; else what is not.
std::string weigh_fairness(uint64_t seed, std::chrono::microseconds slack,
                           trace& log);

} // namespace weir::sim
