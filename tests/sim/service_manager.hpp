#pragma once

#include "tests/sim/positions.hpp"
#include "tests/sim/scene.hpp"

#include <optional>
#include <string>

namespace weir::sim {

/// Keeps the node of a scene alive, as a program's service manager does, and is
/// told when it is to end. What a killed node leaves behind is looked at.
///
/// # Ownership and threads
/// Borrows the scene. One thread.
class service_manager {
public:
  /// What it waits before it starts a program again.
  static constexpr std::chrono::seconds restart_delay{5};

  explicit service_manager(scene& x) : scene_(x) {
    // nop
  }

  /// The first start.
  result<void> start();

  /// Lets time pass; a node that failed or was killed is started again.
  void run_for(std::chrono::microseconds x);

  /// Now.
  void kill();

  /// In its `nth` call to the disk from now on. @param power Of the machine goes.
  void kill_in_call(uint64_t nth, bool power);

  /// So many of its next lives end in a call to the disk.
  void kill_again(uint64_t lives) noexcept { lives_ = lives; }

  /// It stops in good order, and is away so long.
  void restart(std::chrono::microseconds away);

  /// A stop that was to last ends soon: what is asked of a node from now on is
  /// asked of one that runs.
  void hurry();

  /// Streams tell what is not so: positions in a store prove nothing any more.
  void distrust_positions() noexcept { streams_tell_truth_ = false; }

  /// The numbers of a stream began anew; then the node knows it.
  void distrust_positions_until(steady_time x) noexcept { knows_numbers_ = x; }

  /// What was wrong with a store that a killed node left; empty: nothing.
  const std::string& wrong_with_store() const noexcept { return wrong_; }

  /// How often it ended in a call to the disk, and the power with it.
  uint64_t ends_in_calls() const noexcept { return ends_in_calls_; }
  uint64_t power_losses() const noexcept { return power_losses_; }

  /// How often the node was started.
  uint64_t starts() const noexcept { return starts_; }

private:
  void attend();
  void look_at_store();

  scene& scene_;
  std::string wrong_;
  std::map<std::string, stream_commits> streams_; ///< By URL.
  bool streams_tell_truth_ = true; ///< And their numbers only grow.
  steady_time knows_numbers_;
  uint64_t starts_ = 0;
  uint64_t ends_in_calls_ = 0;
  uint64_t power_losses_ = 0;
  uint64_t lives_ = 0; ///< That end in a call to the disk.
  bool dies_ = false;  ///< The disk has ended already.
  std::optional<steady_time> start_at_;
};

} // namespace weir::sim
