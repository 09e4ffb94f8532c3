#pragma once

#include "tests/sim/settings.hpp"

namespace weir::sim {

/// Draws unusual populations and listings for some runs: short pages that
/// change while they are read, one host with nearly all accounts, hundreds of
/// mostly inactive accounts, a long silence at the end. It has a random source
/// of its own, so that all other draws of a seed stay the same.
void draw_crowds(run_settings& out);

} // namespace weir::sim
