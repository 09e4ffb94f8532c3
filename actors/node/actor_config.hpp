#pragma once

#include <caf/actor_system_config.hpp>

namespace weir::actors {

/// CAF's settings: from code alone, no file, no arguments (architecture.md
/// 7.11). Knows the messages that travel between nodes. Work stealing, one
/// thread a core, bounded turns (caf.md 0, 3).
class actor_config : public caf::actor_system_config {
public:
  explicit actor_config(size_t threads);
};

} // namespace weir::actors
