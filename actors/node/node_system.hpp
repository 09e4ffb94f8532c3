#pragma once

#include "actors/node/executor.hpp"

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/scoped_actor.hpp>

#include <functional>
#include <memory>

namespace weir::actors {

/// CAF's system of one node, and who runs its actors: CAF's threads, or an
/// executor. Owned by NODE; one thread at a time, never that of an actor.
class node_system {
public:
  /// @param run Null: CAF's threads.
  /// @param settle See `executor::begin`.
  void start(size_t threads, executor* run, std::function<void()> settle);

  /// False before `start` and after `reset`.
  explicit operator bool() const noexcept { return system_ != nullptr; }

  caf::actor_system& operator*() const noexcept { return *system_; }

  /// From now on the actor overtakes all others that wait for a thread. An
  /// executor decides for itself.
  void put_first(const caf::strong_actor_ptr& x);

  /// @returns what an actor calls before it waits for the disk, so that others
  /// run meanwhile. It must not outlive this object.
  std::function<void()> before_wait() const;

  /// Waits until an actor that was asked to stop has ended.
  void wait_for(caf::scoped_actor& self, const caf::strong_actor_ptr& x);

  /// Waits until every actor has ended.
  void wait_for_all();

  /// @pre every actor has ended
  void reset() noexcept { system_.reset(); }

private:
  executor* run_ = nullptr;
  std::unique_ptr<caf::actor_system_config> config_;
  std::unique_ptr<caf::actor_system> system_;
};

} // namespace weir::actors
