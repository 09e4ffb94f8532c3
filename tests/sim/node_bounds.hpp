#pragma once

#include "tests/sim/scene.hpp"

#include <string>

namespace weir::sim {

/// Whether a node keeps to its own bounds at this moment, in numbers that it
/// shows itself: REPOs in memory, bytes between socket and disk. Empty: it does.
std::string past_a_bound(scene& x);

/// A commit writes what it changes, however many collections its repo has: lets
/// the first account write, and looks at what reaches the disk. Empty: so it is.
std::string weigh_commits(scene& x);

} // namespace weir::sim
