#pragma once

#include "actors/backfill/backfill.hpp"
#include "actors/node/node_config.hpp"

namespace weir::actors {

/// Spools of imports: small bodies are in memory, large ones in files under the
/// data directory, which are removed with the import.
spool_factory make_spool_factory(const node_config& config);

} // namespace weir::actors
