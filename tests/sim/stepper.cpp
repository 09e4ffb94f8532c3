#include "tests/sim/stepper.hpp"

#include "tests/sim/heap_census.hpp"

#include <caf/actor_registry.hpp>
#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/atom.hpp>
#include <caf/scheduled_actor.hpp>
#include <caf/scheduler/test_coordinator.hpp>

namespace weir::sim {

namespace {

/// More steps without a rest count as endless work.
constexpr uint64_t steps_without_rest_max = 5'000'000;

/// No part of a node waits longer for its own end.
constexpr auto end_patience = std::chrono::hours{1};

using caf_time = caf::actor_clock::time_point;

/// CAF counts nanoseconds.
caf_time to_caf(steady_time x) {
  return caf_time{std::chrono::microseconds{x.micros}};
}

} // namespace

stepper::stepper(timeline& time, virtual_net& net, random_source& random,
                 trace& log, const pace& speed)
  : time_(time), net_(net), random_(random), trace_(log), pace_(speed) {
  // nop
}

void stepper::configure(caf::actor_system_config& settings) {
  settings.set("scheduler.policy", caf::atom("testing"));
}

void stepper::begin(caf::actor_system& system,
                    std::function<void()> settle_disk) {
  actors_ = &dynamic_cast<caf::scheduler::test_coordinator&>(
    system.scheduler());
  actors_->clock().current_time = to_caf(time_.now());
  settle_disk_ = std::move(settle_disk);
}

void stepper::end() noexcept {
  actors_ = nullptr;
  busy_ = nullptr;
  settle_disk_ = nullptr;
}

void stepper::run_until(const std::function<bool()>& done) {
  if (!run_while(end_patience, done))
    throw spins_forever{"an actor does not end"};
}

bool stepper::run_while(std::chrono::microseconds most,
                        const std::function<bool()>& done) {
  const auto end = time_.now() + most;
  while (!done())
    if (!step(end))
      return done();
  return true;
}

void stepper::run_for(std::chrono::microseconds x) {
  const auto end = time_.now() + x;
  while (step(end)) {
    // There is more work.
  }
}

bool stepper::step(steady_time end) {
  if (run_something()) {
    ++steps_;
    if (++steps_without_rest_ > steps_without_rest_max)
      throw spins_forever{"work goes on without end"};
    take_time();
    return true;
  }
  steps_without_rest_ = 0;
  const auto due = next_due();
  if (!due || *due > end) {
    jump(end);
    return false;
  }
  jump(*due);
  return true;
}

std::optional<steady_time> stepper::next_due() const {
  auto out = time_.next_due();
  if (actors_ != nullptr && actors_->has_pending_timeout()) {
    const auto first = actors_->clock().schedule().begin()->first;
    const auto micros = std::chrono::duration_cast<std::chrono::microseconds>(
      first.time_since_epoch());
    const steady_time due{micros.count()};
    // Late by the grain, unless the network has an event before that.
    if (!out || *out > due)
      out = out ? std::min(*out, due + pace_.grain) : due + pace_.grain;
  }
  if (busy_ != nullptr)
    out = out ? std::min(*out, busy_until_) : busy_until_;
  if (out && *out < time_.now())
    out = time_.now();
  return out;
}

/// Jumps to a time; whatever is due then becomes work.
void stepper::jump(steady_time to) {
  time_.jump(to);
  if (busy_until_ <= to)
    busy_ = nullptr;
  const heap::heap_scope outside{tests::heap_of_world};
  while (time_.ring()) {
    // There may be more alarms of this moment.
  }
  if (actors_ != nullptr) {
    const heap::heap_scope timers{heap::tag_of("timers")};
    const auto wait = to_caf(to) - actors_->clock().current_time;
    actors_->advance_time(wait);
  }
}

/// A turn takes time, in which other alarms become due.
void stepper::take_time() {
  if (pace_.turn.count() > 0)
    jump(time_.now()
         + std::chrono::microseconds{static_cast<int64_t>(random_.below(
           2 * static_cast<uint64_t>(pace_.turn.count())))});
}

size_t stepper::actors() const {
  return actors_ == nullptr ? 0 : actors_->system().registry().running();
}

bool stepper::is_busy(const void* job) const {
  return busy_ != nullptr && busy_ == job;
}

/// Indices of the jobs that can have a turn.
std::vector<size_t> stepper::idle_jobs() const {
  std::vector<size_t> out;
  if (actors_ == nullptr)
    return out;
  for (size_t i = 0; i < actors_->jobs.size(); ++i)
    if (!is_busy(actors_->jobs[i]))
      out.push_back(i);
  return out;
}

bool stepper::run_something() {
  size_t loops = 0;
  for (const auto* x : net_.loops())
    loops += x->has_task() ? 1 : 0;
  if (busy_ == nullptr) {
    const auto actors = actors_ == nullptr ? 0 : actors_->jobs.size();
    if (loops + actors == 0)
      return false;
    const auto chosen = choose(actors, loops);
    return chosen < actors ? run_actor(chosen) : run_loop(chosen - actors);
  }
  const auto idle = idle_jobs();
  if (loops + idle.size() == 0)
    return false;
  const auto chosen = choose(idle.size(), loops);
  return chosen < idle.size() ? run_actor(idle[chosen])
                              : run_loop(chosen - idle.size());
}

bool stepper::run_loop(size_t i) {
  for (auto* x : net_.loops())
    if (x->has_task() && i-- == 0) {
      trace_.note(time_.now(), "loop", x->name());
      const auto is_node = x->name().starts_with("node.");
      const heap::heap_scope owner{is_node ? heap::tag_of("loops")
                                           : tests::heap_of_world};
      x->run_one();
      return true;
    }
  return false;
}

size_t stepper::choose(size_t actors, size_t loops) {
  const auto all = actors + loops;
  if (pace_.how == order::drawn)
    return random_.below(all);
  if (pace_.how == order::hasty && actors > 0 && random_.below(4) != 0)
    return actors - 1;
  loops_first_ = !loops_first_;
  if (loops > 0 && (loops_first_ || actors == 0))
    return actors + random_.below(loops);
  return 0;
}

bool stepper::run_actor(size_t i) {
  auto& jobs = actors_->jobs;
  if (i != 0)
    std::rotate(jobs.begin(), jobs.begin() + static_cast<std::ptrdiff_t>(i),
                jobs.begin() + static_cast<std::ptrdiff_t>(i) + 1);
  std::string_view name = "actors";
  if (auto* who = dynamic_cast<caf::scheduled_actor*>(jobs.front())) {
    name = who->name();
    trace_.note(time_.now(), "actor", name, who->id());
    if (turn_watch_) {
      const heap::heap_scope outside{tests::heap_of_world};
      turn_watch_(*who, time_.now());
    }
  }
  const auto* job = jobs.front();
  {
    const heap::heap_scope owner{heap::tag_of(name)};
    actors_->run_once();
  }
  // CAF puts an actor with more mail at the front again; with threads it would
  // queue behind the others.
  if (!jobs.empty() && jobs.front() == job)
    std::rotate(jobs.begin(), jobs.begin() + 1, jobs.end());
  if (settle_disk_)
    settle_disk_();
  const auto syncs = syncs_ ? syncs_() : 0;
  if (syncs > syncs_seen_ && pace_.sync.count() > 0) {
    busy_ = job;
    busy_until_
      = time_.now()
        + std::chrono::microseconds{static_cast<int64_t>(random_.below(
          2 * static_cast<uint64_t>(pace_.sync.count())))};
  }
  syncs_seen_ = syncs;
  return true;
}

} // namespace weir::sim
