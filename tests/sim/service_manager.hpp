#pragma once

#include "tests/sim/positions.hpp"
#include "tests/sim/scene.hpp"

#include <optional>
#include <string>

namespace weir::sim {

/// Starts the node of a scene again when it ends, as a service manager does,
/// and checks the store that a killed node left.
///
/// # Ownership and threads
/// Borrows the scene. One thread.
class service_manager {
public:
  /// The wait before it starts a program again.
  static constexpr std::chrono::seconds restart_delay{5};

  explicit service_manager(scene& x) : scene_(x) {
    // nop
  }

  /// Starts the node for the first time.
  result<void> start();

  /// Lets time pass; a node that failed or was killed is started again.
  void run_for(std::chrono::microseconds x);

  /// Kills the node now.
  void kill();

  /// Kills the node in its `nth` disk call from now on. @param power The
  /// machine loses power, too.
  void kill_in_call(uint64_t nth, bool power);

  /// Each of its next `lives` lives ends in a call to the disk.
  void kill_again(uint64_t lives) noexcept { lives_ = lives; }

  /// Stops the node in order, and starts it again after `away`.
  void restart(std::chrono::microseconds away);

  /// Ends a longer stop soon, so that later requests reach a node that runs.
  void hurry();

  /// Streams tell something untrue: positions in a store prove nothing any
  /// more.
  void distrust_positions() noexcept { streams_tell_truth_ = false; }

  /// The seqs of a stream began anew; the node knows it at time `x`.
  void distrust_positions_until(steady_time x) noexcept { knows_numbers_ = x; }

  /// The first error in a store that a killed node left; empty: none.
  const std::string& wrong_with_store() const noexcept { return wrong_; }

  /// How often the node ended in a call to the disk, and with a power loss.
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
  bool streams_tell_truth_ = true;                ///< And their seqs only grow.
  steady_time knows_numbers_;
  uint64_t starts_ = 0;
  uint64_t ends_in_calls_ = 0;
  uint64_t power_losses_ = 0;
  uint64_t lives_ = 0; ///< Number of next lives that end in a call to the disk.
  bool dies_ = false;  ///< It was killed and is not removed yet.
  std::optional<steady_time> start_at_;
};

} // namespace weir::sim
