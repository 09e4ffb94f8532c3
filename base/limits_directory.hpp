#pragma once

#include <chrono>

/// How fast the directory of did:plc documents is asked, by its answers.
namespace weir::limits {

using namespace std::chrono_literals;

/// Look-ups a second at first: a few hundred repos are there in seconds.
constexpr double plc_pace_start = 200;
/// However slow its answers are, so many are asked for a second, which harms
/// nobody; a directory that limits us is asked for less.
constexpr double plc_pace_min = 20;
/// The rate grows at most once in so long.
constexpr std::chrono::milliseconds plc_pace_interval = 200ms;
/// An answer that takes longer is slow; those that wait for a connection to be
/// free have that time, too.
constexpr std::chrono::milliseconds plc_prompt = 2s;
/// A directory that limits us and does not say for how long is not asked for
/// so long.
constexpr std::chrono::seconds plc_rest_min = 1s;

} // namespace weir::limits
