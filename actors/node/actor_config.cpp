#include "actors/node/actor_config.hpp"

#include <caf/atom.hpp>

namespace weir::actors {

actor_config::actor_config(size_t threads) {
  set("scheduler.policy", caf::atom("stealing"));
  set("scheduler.max-threads", threads);
  set("scheduler.max-throughput", size_t{300});
  set("logger.verbosity", caf::atom("quiet"));
}

} // namespace weir::actors
