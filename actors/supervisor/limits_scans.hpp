#pragma once

#include "base/option_range.hpp"

#include <cstddef>
#include <cstdint>

/// Limits of `actors/supervisor` for its looks at all rows of the store: the
/// value itself is allowed, value + 1 is not.
namespace weir::limits {

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

/// A REPO is woken because a look-up is due while its page of rows has fewer
/// repos than this: a quarter of `completeness_wakes_max`, so that others have
/// their share.
constexpr size_t completeness_due_max = completeness_wakes_max / 4;

/// When a host has more repos to ask about than this part of its hourly
/// questions (`uncovered_asked_per_host`), the repos are split into parts and
/// each hour asks about another part. The value 2 means half: by chance some
/// parts are larger than others.
constexpr size_t completeness_ask_part = 2;

/// When this many repos were fetched and `collections` keeps no record of any
/// of them, the setting is probably a mistake, and the log warns of it.
constexpr uint64_t kept_nothing_repos_min = 100;

/// The time from one lap through the repos that no upstream covers to the next;
/// `listing_interval`, if that is shorter.
constexpr std::chrono::minutes uncovered_interval{60};

/// The first lap begins one to two 60ths of the interval after the start, so
/// that changes from the time when the node was down are known soon.
constexpr int uncovered_first_part = 60;

/// Later laps begin up to one quarter of the interval sooner, at random, so
/// that nodes that were started together do not ask together.
constexpr int uncovered_jitter_part = 4;

/// Repos of one host that are asked about in an hour, on average: hosts
/// commonly allow 36,000 requests. When a host has more repos, each lap asks
/// about another part of them. The size of the parts follows from how many
/// repos the host had in the last lap, so a lap may ask more than the average,
/// but never more than `uncovered_burst` times as much.
constexpr size_t uncovered_asked_per_host = 1'000;
constexpr size_t uncovered_burst = 2;

/// The fewest repos of a host that a lap asks about, with a short interval.
constexpr size_t uncovered_asked_per_lap_min = 8;

/// Hosts are told apart by a hash with this many values, which bounds the
/// memory. Two hosts with the same value share a budget.
constexpr size_t uncovered_host_slots = 4'096;

/// The most questions from one page of rows, and the pause after a page that
/// had questions. At this pace 100,000 repos take about half an hour.
constexpr size_t uncovered_page_max = 128;
constexpr std::chrono::seconds uncovered_page_pause{2};

} // namespace weir::limits
