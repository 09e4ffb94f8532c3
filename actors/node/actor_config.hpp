#pragma once

#include <caf/actor_system_config.hpp>

namespace weir::actors {

class executor;

/// CAF's settings, which come from code alone, not from a file or arguments
/// (ADR 1, 11). It registers the messages that travel between nodes. One queue,
/// one thread for each core, bounded turns (ADR 6).
class actor_config : public caf::actor_system_config {
public:
  /// @param run Null: CAF's own threads.
  explicit actor_config(size_t threads, executor* run = nullptr);
};

} // namespace weir::actors
