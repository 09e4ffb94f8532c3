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

/// How the stepper chooses among what could run now.
enum class order : uint8_t {
  fair,   ///< Whatever has waited longest.
  drawn,  ///< Any, by the seed.
  hasty,  ///< Mostly whatever came last.
};

/// How fast the simulated machine is.
struct pace {
  order how = order::drawn;
  /// Timers of actors ring late by so much when nothing else happens before, as
  /// on a busy machine: days of rest cost less.
  std::chrono::microseconds grain{0};
  std::chrono::microseconds turn{0}; ///< What a turn takes, on average.
  std::chrono::microseconds sync{0}; ///< The same of a sync of the disk.
};

/// Work went on without end while time stood still.
class spins_forever : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// Runs everything of a simulation on one thread, one thing at a time: a turn of
/// an actor or a task of a loop. When nothing can run, time jumps to what is due
/// next.
class stepper final : public actors::executor {
public:
  stepper(timeline& time, virtual_net& net, random_source& random, trace& log,
          const pace& speed);

  /// How often this thread told the disk to sync so far: whoever did that is busy
  /// for a while afterwards, and what it has promised comes late. Syncs of
  /// LevelDB's own thread hold nobody up, and are no part of a seed: a read that
  /// it gets ahead of is charged to another file than one that it does not.
  void set_syncs(std::function<uint64_t()> x) { syncs_ = std::move(x); }

  /// Is told which actor has its turn next.
  using turn_watch = std::function<void(caf::scheduled_actor&, steady_time)>;
  void set_turn_watch(turn_watch x) { turn_watch_ = std::move(x); }

  // -- actors::executor -------------------------------------------------------

  void configure(caf::actor_system_config& settings) override;
  void begin(caf::actor_system& system,
             std::function<void()> settle_disk) override;
  void run_until(const std::function<bool()>& done) override;
  void end() noexcept override;

  // -- the simulation's -------------------------------------------------------

  /// Does one thing, or lets time jump, at most to `end`. False: nothing will
  /// ever happen before it.
  bool step(steady_time end);

  void run_for(std::chrono::microseconds x);

  /// Until `done`, or for so long. True: it is.
  bool run_while(std::chrono::microseconds most,
                 const std::function<bool()>& done);

  uint64_t steps() const noexcept { return steps_; }

  /// Actors that live; none when no node runs.
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
  const void* busy_ = nullptr; ///< Whoever synced last: only JOURNAL does.
  steady_time busy_until_;
  uint64_t steps_without_rest_ = 0;
  bool loops_first_ = false; ///< Of `fair`: who is next.
};

} // namespace weir::sim
