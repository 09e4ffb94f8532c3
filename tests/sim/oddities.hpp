#pragma once

#include "tests/sim/deeds.hpp"
#include "tests/sim/settings.hpp"

#include <vector>

namespace weir::sim {

/// So long after the numbers of a stream began anew the node knows it, if nothing
/// else happens to that stream: it has dialled twice.
constexpr std::chrono::microseconds renumbered_in = std::chrono::seconds{6};

/// Whether a plot is one of these.
bool is_oddity(plot x) noexcept;

/// Plots about what honest servers and applications do now and then. Draws from a
/// source of its own, so that other runs stay what they were.
void draw_oddity(run_settings& out);

/// The deeds of one round of such a run, in order of time.
/// @pre `is_oddity(settings.about)`
void draw_oddity_round(const run_settings& settings, size_t round,
                        random_source& random, std::vector<deed>& out);

} // namespace weir::sim
