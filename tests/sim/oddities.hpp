#pragma once

#include "tests/sim/deeds.hpp"
#include "tests/sim/settings.hpp"

#include <vector>

namespace weir::sim {

/// After this time the node knows that the seqs of a stream began anew, if
/// nothing else happens to that stream: it has connected twice by then.
constexpr std::chrono::microseconds renumbered_in = std::chrono::seconds{6};

/// Whether a plot is one of this file's.
bool is_oddity(plot x) noexcept;

/// Plots about rare behaviour of honest servers and applications. They have a
/// random source of their own, so that all other draws of a seed stay the same.
void draw_oddity(run_settings& out);

/// The deeds of one round of such a run, in order of time.
/// @pre `is_oddity(settings.about)`
void draw_oddity_round(const run_settings& settings, size_t round,
                        random_source& random, std::vector<deed>& out);

} // namespace weir::sim
