#pragma once

#include "actors/router/limits.hpp"
#include "actors/support/limits.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace weir::actors {

struct resident_options {
  /// REPOs that are kept alive; beyond that, the least recently used close.
  size_t resident_max = limits::resident_repos_max;
  /// The most REPOs that are asked to close when one wakes.
  size_t close_tries_max = limits::router_close_tries_max;
  std::chrono::microseconds idle_max = limits::repo_idle_max;
};

/// The REPOs that one shard keeps alive when all shards together have this
/// memory.
inline size_t residents_for(uint64_t bytes, size_t shards) noexcept {
  return std::clamp<size_t>(bytes / limits::repo_actor_bytes / shards,
                            limits::residents_min, limits::resident_repos_max);
}

} // namespace weir::actors
