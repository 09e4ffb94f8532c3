#pragma once

#include "apps/demo/options.hpp"

namespace weir::apps {

/// Runs the engine against a simulated network and proves that it did its job.
/// It finds repos, fetches and verifies their history, follows the live stream
/// through faults, delivers every event to a consumer, and then compares all
/// copies with the network.
///
/// Prints its progress. The last line begins with `DEMO OK` or `DEMO FAILED`.
/// @returns the exit status of the program.
int run_demo(const demo_options& options);

} // namespace weir::apps
