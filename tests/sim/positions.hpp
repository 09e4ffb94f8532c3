#pragma once

#include "simnet/servers.hpp"
#include "simnet/world.hpp"
#include "storage/database.hpp"

#include <string>

namespace weir::sim {

/// Whether a stream's durable position is ahead of what came of its events: a
/// commit at or below it, of an account that is active there, must be in the
/// copy, or the repo must be known to lack something (CONS-23, I4). Only for
/// streams whose numbers never started anew and that told nothing but the truth.
/// @returns a sentence; empty: no position is ahead.
std::string position_ahead(const storage::database& db, simnet::world& world,
                           const simnet::network_urls& urls);

} // namespace weir::sim
