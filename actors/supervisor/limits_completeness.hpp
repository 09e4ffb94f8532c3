#pragma once

#include "base/option_range.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>

/// Bounds that `actors/supervisor` keeps. A name says the thing and the unit.
/// The value itself is accepted; value + 1 is refused.
namespace weir::limits {

using namespace std::chrono_literals;

/// The time from the end of one look at all rows to the begin of the next,
/// while something is incomplete and when nothing is. Both are minimums;
/// `completeness_interval` makes them longer.
constexpr std::chrono::seconds completeness_pause{5};
constexpr std::chrono::seconds completeness_pause_whole{30};
constexpr option_seconds completeness_interval_range{
  completeness_pause, std::chrono::hours{720}, completeness_pause};

/// A page is followed by a pause of `completeness_rest_part` times the time
/// that the page took, so that a store of any size is read for less than a
/// fiftieth of the time. The pause is at most `completeness_pause_max`, which
/// belongs to a page of one minute.
constexpr int completeness_rest_part = 50;
constexpr std::chrono::seconds completeness_pause_max{3'000};

/// REPOs that are woken in each interval to see what they lack. An idle REPO
/// stays in memory for ten minutes; in that time fewer are woken than one
/// ROUTER shard keeps. The interval is no longer than `completeness_pause`, so
/// that the first repo that had to wait can always be woken in the next look.
constexpr size_t completeness_wakes_max = 128;
constexpr std::chrono::seconds completeness_wake_interval = completeness_pause;

/// When a host has more repos to ask about than this part of its hourly
/// questions (limits_uncovered.hpp), the repos are split into parts and each
/// hour asks about another part. The value 2 means half: by chance some parts
/// are larger than others.
constexpr size_t completeness_ask_part = 2;

/// When this many repos were fetched and `collections` keeps no record of any
/// of them, the setting is probably a mistake, and the log warns of it.
constexpr uint64_t kept_nothing_repos_min = 100;

} // namespace weir::limits
