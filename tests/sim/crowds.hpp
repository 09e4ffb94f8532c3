#pragma once

#include "tests/sim/settings.hpp"

namespace weir::sim {

/// Other populations and listings than most runs have: short pages that change
/// under their reader, one host with nearly all accounts, hundreds of accounts
/// most of which are inactive, a long silence at the end. Draws from a source
/// of its own, so that other runs stay what they were.
void draw_crowds(run_settings& out);

} // namespace weir::sim
