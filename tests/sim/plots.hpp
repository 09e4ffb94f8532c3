#pragma once

#include "tests/sim/deeds.hpp"
#include "tests/sim/settings.hpp"

#include <chrono>
#include <vector>

namespace weir::sim {

/// The deeds of a plot begin after this time, because nodes make a listing when
/// a stream begins.
constexpr std::chrono::microseconds begins_after = std::chrono::minutes{10};

const char* to_string(plot x) noexcept;

/// Turns off everything else, so that no other mechanism repairs what went
/// wrong in such a run.
void leave_alone(run_settings& out);

/// Gives one run in five a plot: the conditions under which one rule matters
/// occur there repeatedly and in all orders, and nothing else repairs the
/// result. It has a random source of its own, so that all other draws of a seed
/// stay the same.
void draw_plot(run_settings& out);

/// The deeds of one round of such a run, in order of time.
/// @pre `settings.about` is not `none`
void draw_plot_round(const run_settings& settings, size_t round,
                      random_source& random, std::vector<deed>& out);

} // namespace weir::sim
