#pragma once

#include <functional>

namespace caf {
class actor_system;
class actor_system_config;
} // namespace caf

namespace weir::actors {

/// The executor seam: decides who runs the actors of a node. Without one, the
/// node uses CAF's threads, and actors that read the disk or erase from it have
/// threads of their own. With one, no actor has a thread: all of them wait
/// until the executor runs them, so that a simulation can decide what happens
/// next.
///
/// # Ownership and threads
/// Outlives the node. All calls come from the thread that starts and stops the
/// node; actors must be run on that thread, too.
class executor {
public:
  virtual ~executor() = default;

  /// Chooses the scheduler, after the node has made its settings.
  virtual void configure(caf::actor_system_config& settings) = 0;

  /// The system exists and has no actor yet.
  /// @param settle_disk Returns when the store has no work in the background.
  /// Call it after each turn of an actor, so that equal runs find equal files.
  virtual void begin(caf::actor_system& system,
                     std::function<void()> settle_disk) = 0;

  /// Runs actors and everything that they wait for, until `done` is true.
  virtual void run_until(const std::function<bool()>& done) = 0;

  /// All actors have ended; the system ends next.
  virtual void end() noexcept = 0;
};

} // namespace weir::actors
