#include "actors/node/node_system.hpp"

#include "actors/node/sparing_policy.hpp"
#include "messages/caf_types.hpp"

#include <caf/atom.hpp>

namespace weir::actors {

namespace {

/// CAF's settings, which come from code alone, not from a file or arguments
/// (ADR 1, 11). It registers the messages that travel between nodes. One queue,
/// bounded turns (ADR 6).
class actor_config : public caf::actor_system_config {
public:
  actor_config(size_t threads, executor* run) {
#define WEIR_REGISTER_MESSAGE(name) add_message_type<name>("weir::" #name);
    WEIR_TRAVELLING_MESSAGES(WEIR_REGISTER_MESSAGE)
#undef WEIR_REGISTER_MESSAGE
    set("scheduler.max-threads", threads);
    set("scheduler.max-throughput", size_t{300});
    set("logger.verbosity", caf::atom("quiet"));
    if (run != nullptr)
      run->configure(*this);
    else
      load<caf::scheduler::coordinator<sparing_policy>>();
  }
};

sparing_policy::coordinator_data& data_of(caf::actor_system& system) {
  using scheduler = caf::scheduler::coordinator<sparing_policy>;
  return static_cast<scheduler&>(system.scheduler()).data();
}

} // namespace

void node_system::start(size_t threads, executor* run,
                        std::function<void()> settle) {
  run_ = run;
  config_ = std::make_unique<actor_config>(threads, run);
  system_ = std::make_unique<caf::actor_system>(*config_);
  if (run_ != nullptr)
    run_->begin(*system_, std::move(settle));
}

void node_system::put_first(const caf::strong_actor_ptr& x) {
  auto* actor = caf::actor_cast<caf::abstract_actor*>(x);
  if (run_ == nullptr)
    sparing_policy::put_first(data_of(*system_),
                              dynamic_cast<caf::resumable*>(actor));
}

std::function<void()> node_system::before_wait() const {
  if (run_ != nullptr)
    return [] {};
  return [&data = data_of(*system_)] { sparing_policy::about_to_wait(data); };
}

void node_system::wait_for(caf::scoped_actor& self,
                           const caf::strong_actor_ptr& x) {
  self->monitor(x);
  if (run_ != nullptr)
    run_->run_until([&self] {
      return self->has_next_message();
    });
  self->receive([](const caf::down_msg&) {
    // The actor has ended.
  });
}

void node_system::wait_for_all() {
  if (run_ != nullptr)
    run_->run_until([this] {
      return system_->registry().running() == 0;
    });
  system_->await_all_actors_done();
  if (run_ != nullptr)
    run_->end();
}

} // namespace weir::actors
