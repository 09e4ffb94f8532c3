#pragma once

#include "tests/sim/deeds.hpp"
#include "tests/sim/settings.hpp"

#include <chrono>
#include <vector>

namespace weir::sim {

/// Nodes list what a stream tells of when it begins.
constexpr std::chrono::microseconds begins_after = std::chrono::minutes{10};

const char* to_string(plot x) noexcept;

/// No other mechanism finds what went wrong in such a run, and nobody else does
/// anything.
void leave_alone(run_settings& out);

/// Makes one run in five about something: what has to meet for a rule to matter
/// meets there again and again, in all orders, and nothing else heals it. Draws
/// from a source of its own, so that other runs stay what they were.
void draw_plot(run_settings& out);

/// The deeds of one round of such a run, in order of time.
/// @pre `settings.about` is not `none`
void draw_plot_round(const run_settings& settings, size_t round,
                      random_source& random, std::vector<deed>& out);

} // namespace weir::sim
