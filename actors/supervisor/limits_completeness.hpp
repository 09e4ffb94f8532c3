#pragma once

#include "base/option_range.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>

/// Bounds that `actors/supervisor` keeps. A name says the thing and the unit.
/// The value itself is accepted; value + 1 is refused.
namespace weir::limits {

using namespace std::chrono_literals;

/// From the end of one look at all rows to the begin of the next: as long as
/// something is incomplete, and when nothing is. Both are the shortest;
/// `completeness_interval` makes them longer.
constexpr std::chrono::seconds completeness_pause{5};
constexpr std::chrono::seconds completeness_pause_whole{30};
constexpr option_seconds completeness_interval_range{
  completeness_pause, std::chrono::hours{720}, completeness_pause};

/// A page is followed by a pause of so many times as long as it took, so that a
/// store of any size is read for less than a fiftieth of the time; and at most
/// of so long, which is what a page of a minute costs.
constexpr int completeness_rest_part = 50;
constexpr std::chrono::seconds completeness_pause_max{3'000};

/// Repos that are woken to see what they lack, in each such time: in the ten
/// minutes that an idle REPO stays in memory there come fewer than one ROUTER
/// shard keeps. The time is no longer than `completeness_pause`, so that the
/// first one without a wake always has one in the next look.
constexpr size_t completeness_wakes_max = 128;
constexpr std::chrono::seconds completeness_wake_interval = completeness_pause;

/// A host with more repos to ask about than so large a part of its hourly
/// questions (limits_uncovered.hpp) is asked about another part of them in each
/// hour. Half: by chance some parts are larger than others.
constexpr size_t completeness_ask_part = 2;

/// When so many repos were fetched and `collections` keeps no record of any, it is
/// hardly what was meant: the log warns of it.
constexpr uint64_t kept_nothing_repos_min = 100;

} // namespace weir::limits
