#pragma once

#include "apps/weir/demo_options.hpp"

namespace weir::apps {

/// The whole job of the engine against a simulated network, and the proof that
/// it was done: finds repos, fetches and verifies their history, follows the
/// live stream through faults, delivers every event to a consumer, and then
/// compares all copies with what the network knows.
///
/// Prints its progress; the last line begins with `DEMO OK` or `DEMO FAILED`.
/// @returns the exit status of the program.
int run_demo(const demo_options& options);

} // namespace weir::apps
