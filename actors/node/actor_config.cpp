#include "actors/node/actor_config.hpp"

#include "actors/node/executor.hpp"
#include "messages/caf_types.hpp"

#include <caf/atom.hpp>

namespace weir::actors {

actor_config::actor_config(size_t threads, executor* run) {
#define WEIR_REGISTER_MESSAGE(name) add_message_type<name>("weir::" #name);
  WEIR_TRAVELLING_MESSAGES(WEIR_REGISTER_MESSAGE)
#undef WEIR_REGISTER_MESSAGE
  // First come, first served. A worker that steals takes the newest work first,
  // so that in a crowd some actors wait for seconds (docs/adr/0006-turns.md).
  set("scheduler.policy", caf::atom("sharing"));
  set("scheduler.max-threads", threads);
  set("scheduler.max-throughput", size_t{300});
  set("logger.verbosity", caf::atom("quiet"));
  if (run != nullptr)
    run->configure(*this);
}

} // namespace weir::actors
