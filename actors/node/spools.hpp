#pragma once

#include "actors/backfill/backfill.hpp"
#include "actors/node/node_config.hpp"

namespace weir::actors {

/// Spools of imports: small bodies in memory, large ones in files under the
/// data directory that vanish with the import.
spool_factory make_spool_factory(const node_config& config);

} // namespace weir::actors
