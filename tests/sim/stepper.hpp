#pragma once

#include "actors/node/executor.hpp"
#include "base/random.hpp"
#include "tests/sim/virtual_net.hpp"

#include <chrono>
#include <functional>
#include <stdexcept>
#include <vector>

namespace caf::scheduler {
class test_coordinator;
} // namespace caf::scheduler

namespace caf {
class scheduled_actor;
} // namespace caf

namespace weir::sim {

/// The order in which the stepper runs the tasks that are ready.
enum class order : uint8_t {
  fair,  ///< The task that has waited longest.
  drawn, ///< Any task, drawn from the seed.
  hasty, ///< Mostly the task that became ready last.
};

/// How fast the simulated machine is.
struct pace {
  order how = order::drawn;
  /// An actor's timer may ring late by this much when nothing else happens
  /// before, as on a busy machine. That makes days without events cheaper.
  std::chrono::microseconds grain{0};
  std::chrono::microseconds turn{0}; ///< The average time that a turn takes.
  /// The average time that a sync of the disk takes.
  std::chrono::microseconds sync{0};
};

/// Thrown when tasks run without end while time stands still.
class spins_forever : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// Runs a whole simulation on one thread, one task at a time: a turn of an
/// actor or a task of a loop. When no task can run, time jumps to the next
/// alarm.
class stepper final : public actors::executor {
public:
  stepper(timeline& time, virtual_net& net, random_source& random, trace& log,
          const pace& speed);

  /// Sets a function that returns how many syncs of the disk this thread has
  /// made. The one who syncs is busy for a while afterwards, and its answers
  /// come late. Syncs of LevelDB's own thread are not counted: they delay
  /// nobody and depend on more than the seed, since a read that overtakes that
  /// thread is charged to another file than one that does not.
  void set_syncs(std::function<uint64_t()> x) { syncs_ = std::move(x); }

  /// Called with the actor that has the next turn.
  using turn_watch = std::function<void(caf::scheduled_actor&, steady_time)>;
  void set_turn_watch(turn_watch x) { turn_watch_ = std::move(x); }

  // -- actors::executor -------------------------------------------------------

  void configure(caf::actor_system_config& settings) override;
  void begin(caf::actor_system& system,
             std::function<void()> settle_disk) override;
  void run_until(const std::function<bool()>& done) override;
  void end() noexcept override;

  // -- the simulation's -------------------------------------------------------

  /// Runs one task, or lets time jump, at most to `end`. False: nothing can
  /// happen before `end`.
  bool step(steady_time end);

  void run_for(std::chrono::microseconds x);

  /// Runs until `done`, or for `most`. True: it is done.
  bool run_while(std::chrono::microseconds most,
                 const std::function<bool()>& done);

  uint64_t steps() const noexcept { return steps_; }

  /// The number of live actors; 0 when no node runs.
  size_t actors() const;

private:
  bool run_something();
  bool run_actor(size_t i);
  bool run_loop(size_t i);
  void take_time();
  bool is_busy(const void* job) const;
  std::vector<size_t> idle_jobs() const;
  void jump(steady_time to);
  size_t choose(size_t actors, size_t loops);
  std::optional<steady_time> next_due() const;

  timeline& time_;
  virtual_net& net_;
  random_source& random_;
  trace& trace_;
  const pace pace_;
  caf::scheduler::test_coordinator* actors_ = nullptr;
  std::function<void()> settle_disk_;
  turn_watch turn_watch_;
  uint64_t steps_ = 0;
  std::function<uint64_t()> syncs_;
  uint64_t syncs_seen_ = 0;
  /// The one that synced last; only JOURNAL syncs.
  const void* busy_ = nullptr;
  steady_time busy_until_;
  uint64_t steps_without_rest_ = 0;
  bool loops_first_ = false; ///< For `fair`: whether loops come before actors.
};

} // namespace weir::sim
