#pragma once

#include "tests/sim/scene.hpp"

#include <string>

namespace weir::sim {

/// Whether a node keeps to its own bounds at this moment, in numbers that it
/// shows itself: REPOs in memory, bytes between socket and disk. Empty: it does.
std::string past_a_bound(scene& x);

/// Looks at it again and again, as time passes.
///
/// # Ownership and threads
/// Borrows the scene. One thread.
class bound_watch {
public:
  bound_watch(scene& x, std::chrono::microseconds interval);
  ~bound_watch();

  bound_watch(const bound_watch&) = delete;
  bound_watch& operator=(const bound_watch&) = delete;

  /// The first bound that was passed, and how. Empty: none was.
  const std::string& broken() const noexcept { return broken_; }

private:
  void arm();

  scene& scene_;
  std::chrono::microseconds interval_;
  timeline::key next_;
  std::string broken_;
};

/// A commit writes what it changes, however many collections its repo has: lets
/// the first account write, and looks at what reaches the disk. Empty: so it is.
std::string weigh_commits(scene& x);

} // namespace weir::sim
