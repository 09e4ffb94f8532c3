#pragma once

#include <chrono>
#include <cstddef>

/// Bounds that `actors/supervisor` keeps. A name says the thing and the unit.
/// The value itself is accepted; value + 1 is refused.
namespace weir::limits {

using namespace std::chrono_literals;

/// Once in this time, or in `listing_interval` where that is shorter.
constexpr std::chrono::minutes uncovered_interval{60};

/// The first time one to two of these parts of it after the start, so that what
/// changed while the node was down is known soon.
constexpr int uncovered_first_part = 60;

/// Later up to this part of it sooner, so that nodes that were started together
/// do not ask together.
constexpr int uncovered_jitter_part = 4;

/// Repos of one host that are asked about in an hour, about: hosts commonly
/// allow 36,000 requests. Of a host that has more, each time another part is
/// asked about; which part follows from how many it had the last time, so it
/// may be more than that, but never more than so many times as much.
constexpr size_t uncovered_asked_per_host = 1'000;
constexpr size_t uncovered_burst = 2;

/// In a short interval at least so many, each time.
constexpr size_t uncovered_asked_per_lap_min = 8;

/// Hosts are told apart by a hash with so many values, which bounds the memory;
/// two with the same one share a budget.
constexpr size_t uncovered_host_slots = 4'096;

/// Questions of one page of rows, and the pause that follows one with
/// questions: 100,000 repos take about half of the hour.
constexpr size_t uncovered_page_max = 128;
constexpr std::chrono::seconds uncovered_page_pause{2};

} // namespace weir::limits
