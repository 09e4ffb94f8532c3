#pragma once

#include "tests/sim/trace.hpp"

#include <cstdint>
#include <string>

namespace weir::sim {

/// Commits that wait for a fetch leave in the log what they would have left
/// without a fetch (SYNC-26): the same operations of each repo, in the same
/// order.
///
/// Runs the world of a seed twice, without its deeds and its hostile hosts.
/// Some accounts make the same writes at the same moments: once while their
/// repos are fetched again, once while nothing else happens. Empty when both
/// logs are equal; otherwise the difference.
std::string weigh_buffering(uint64_t seed, trace& log);

} // namespace weir::sim
