#pragma once

#include "tests/sim/trace.hpp"

#include <cstdint>
#include <string>

namespace weir::sim {

/// Commits that wait for a fetch leave in the log what they would have left
/// without one (SYNC-26): the same operations of each repo, in the same order.
///
/// Runs the world of a seed twice, without its deeds and its hostile hosts: some
/// accounts write the same at the same moments, once while their repos are being
/// fetched again, once while nothing else happens. Empty: it is the same; else how
/// it differs.
std::string weigh_buffering(uint64_t seed, trace& log);

} // namespace weir::sim
