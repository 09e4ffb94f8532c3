#pragma once

#include "tests/sim/scene.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace weir::sim {

/// The times at which the accounts of honest hosts were complete at node and
/// application, by DID: after the start, and after each time that all of them
/// wrote something.
using settling = std::vector<std::map<std::string, std::chrono::microseconds>>;

/// Runs a seed without its deeds.
/// @param enemies Whether its hostile hosts take part.
settling measure_settling(uint64_t seed, bool enemies, trace& log);

/// Fairness: with hostile hosts, an account of an honest host is complete
/// within twice the time that it needs without them, plus `slack`, because
/// small worlds are complete after few seconds and a host is known to be slow
/// only after some. Empty when that holds; otherwise what does not.
std::string weigh_fairness(uint64_t seed, std::chrono::microseconds slack,
                           trace& log);

} // namespace weir::sim
