#pragma once

#include "actors/node/executor.hpp"
#include "base/random.hpp"
#include "tests/sim/virtual_net.hpp"

#include <chrono>
#include <functional>
#include <stdexcept>

namespace caf::scheduler {
class test_coordinator;
} // namespace caf::scheduler

namespace weir::sim {

/// How the stepper chooses among what could run now.
enum class order : uint8_t {
  fair,   ///< Whatever has waited longest.
  drawn,  ///< Any, by the seed.
  hasty,  ///< Mostly whatever came last.
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
  /// @param grain Timers of actors ring late by so much when nothing else
  ///        happens before, as on a busy machine: days of rest cost less.
  stepper(timeline& time, virtual_net& net, random_source& random, trace& log,
          order how, std::chrono::microseconds grain);

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

private:
  bool run_something();
  void run_actor(size_t i);
  void jump(steady_time to);
  size_t choose(size_t actors, size_t loops);
  std::optional<steady_time> next_due() const;

  timeline& time_;
  virtual_net& net_;
  random_source& random_;
  trace& trace_;
  order order_;
  std::chrono::microseconds grain_;
  caf::scheduler::test_coordinator* actors_ = nullptr;
  std::function<void()> settle_disk_;
  uint64_t steps_ = 0;
  uint64_t steps_of_moment_ = 0;
  bool loops_first_ = false; ///< Of `fair`: who is next.
};

} // namespace weir::sim
