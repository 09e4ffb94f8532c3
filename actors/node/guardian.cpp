#include "actors/node/guardian.hpp"

#include "actors/support/observed.hpp"
#include "actors/support/restart_policy.hpp"
#include "base/log.hpp"
#include "messages/caf_types.hpp"
#include "messages/frames.hpp"

#include <caf/actor_system.hpp>
#include <caf/typed_event_based_actor.hpp>

namespace weir::actors {

namespace {

class guardian final : public observed<common_actor::base> {
public:
  guardian(caf::actor_config& config, context_ptr shared,
           std::vector<guarded_child> children,
           std::function<void(const error&)> escalate)
    : observed(config, "node"), shared_(std::move(shared)),
      children_(std::move(children)), escalate_(std::move(escalate)) {}

  behavior_type make_behavior() override {
    set_down_handler([this](caf::down_msg& x) { on_down(x); });
    for (const auto& child : children_)
      monitor(child.handle);
    return {
      [](tick) {},
      [this](stop_actor) { quit(); },
      [this](get_status) {
        return status({{"children", children_.size()}}, {}, {});
      },
    };
  }

  void on_exit() override {
    children_.clear();
    shared_ = nullptr;
    escalate_ = nullptr;
    observed::on_exit();
  }

private:
  void on_down(const caf::down_msg& x) {
    for (auto& child : children_) {
      if (!child.handle || child.handle->address() != x.source)
        continue;
      child.handle = nullptr;
      if (x.reason == caf::error{} || x.reason == caf::exit_reason::normal)
        return;
      const auto why = from_caf(x.reason);
      log::error("actor_died",
                 {{"actor", child.name}, {"reason", to_string(why)}});
      if (child.restart
          && policy_.may_restart(shared_->time->steady_now())) {
        child.handle = child.restart();
        if (child.handle)
          monitor(child.handle);
      } else {
        escalate_(fail(ec::cancelled, child.name + " died: "
                                        + to_string(why)));
      }
      return;
    }
  }

  context_ptr shared_;
  std::vector<guarded_child> children_;
  std::function<void(const error&)> escalate_;
  restart_policy policy_;
};

} // namespace

common_actor
spawn_guardian(caf::actor_system& system, context_ptr shared,
               std::vector<guarded_child> children,
               std::function<void(const error&)> escalate) {
  return system.spawn<guardian>(std::move(shared), std::move(children),
                                std::move(escalate));
}

} // namespace weir::actors
