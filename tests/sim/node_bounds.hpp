#pragma once

#include "tests/sim/scene.hpp"

#include <string>

namespace weir::sim {

/// Checks the node's own bounds at this moment with numbers that it reports
/// itself: REPOs in memory, bytes between socket and disk. Empty: all hold.
std::string past_a_bound(scene& x);

/// Checks `past_a_bound` repeatedly as time passes.
///
/// # Ownership and threads
/// Borrows the scene. One thread.
class bound_watch {
public:
  bound_watch(scene& x, std::chrono::microseconds interval);
  ~bound_watch();

  bound_watch(const bound_watch&) = delete;
  bound_watch& operator=(const bound_watch&) = delete;

  /// The first bound that was passed, and how. Empty: none.
  const std::string& broken() const noexcept { return broken_; }

private:
  void arm();

  scene& scene_;
  std::chrono::microseconds interval_;
  timeline::key next_;
  std::string broken_;
};

/// A commit writes only what it changes, however many collections its repo has:
/// makes the first account write, and measures what reaches the disk. Empty
/// when that holds.
std::string weigh_commits(scene& x);

} // namespace weir::sim
