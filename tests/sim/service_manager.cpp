#include "tests/sim/service_manager.hpp"

#include "apps/weir/closed_stores.hpp"

#include <algorithm>
#include <thread>

namespace weir::sim {

namespace {

using namespace std::chrono_literals;
using std::chrono::microseconds;

/// Number of disk calls before which such a life ends.
constexpr uint64_t calls_of_a_life = 60;

} // namespace

result<void> service_manager::start() {
  ++starts_;
  return scene_.start_node();
}

void service_manager::run_for(microseconds x) {
  const auto end = scene_.time().now() + x;
  for (;;) {
    attend();
    auto left = end - scene_.time().now();
    if (left.count() < 0)
      left = 0us;
    if (start_at_)
      left = std::min(left, std::max(*start_at_ - scene_.time().now(), 0us));
    const auto called = scene_.steps().run_while(left, [this] {
      return dies_ || (scene_.node_runs() && scene_.failure().code != ec::none);
    });
    if (!called && !start_at_ && scene_.time().now() >= end)
      return;
    if (!called && start_at_ && scene_.time().now() >= end
        && *start_at_ > scene_.time().now())
      return;
  }
}

void service_manager::kill() {
  scene_.die(false);
  dies_ = true;
}

void service_manager::kill_in_call(uint64_t nth, bool power) {
  // LevelDB's thread calls at any time, which does not depend on the seed.
  scene_.disk_faults().plan({.nth = nth,
                             .thread = std::this_thread::get_id(),
                             .instead = [this, power] {
                               ++(power ? power_losses_ : ends_in_calls_);
                               scene_.die(power);
                               dies_ = true;
                             }});
}

void service_manager::restart(microseconds away) {
  scene_.stop_node();
  start_at_ = scene_.time().now() + away;
}

void service_manager::hurry() {
  if (start_at_)
    start_at_ = std::min(*start_at_, scene_.time().now() + restart_delay);
}

void service_manager::attend() {
  const auto now = scene_.time().now();
  if (std::exchange(dies_, false)) {
    scene_.end_killed_node();
    look_at_store();
    start_at_ = now + restart_delay;
  } else if (scene_.node_runs() && scene_.failure().code != ec::none) {
    scene_.stop_node();
    start_at_ = now + restart_delay;
  }
  if (!start_at_ || *start_at_ > now || scene_.node_runs())
    return;
  start_at_.reset();
  if (auto ok = start(); !ok) {
    scene_.log().note(now, "start", to_string(ok.error()));
    // For example, because its disk is still full.
    start_at_ = now + restart_delay;
  } else if (lives_ > 0) {
    --lives_;
    kill_in_call(1 + scene_.random().below(calls_of_a_life), false);
  }
}

/// Checks that the store of a killed node is consistent before it is repaired.
void service_manager::look_at_store() {
  const auto stores = apps::closed_stores::open(
    scene_.settings().node.data_dir, &scene_.disk());
  if (!stores || !wrong_.empty() || !streams_tell_truth_
      || scene_.time().now() < knows_numbers_)
    return; // A store that was never completed cannot be read yet.
  wrong_ = position_ahead(*stores, scene_.life().truth(), scene_.urls(),
                          streams_);
}

} // namespace weir::sim
