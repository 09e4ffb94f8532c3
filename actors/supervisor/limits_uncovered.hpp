#pragma once

#include <chrono>
#include <cstddef>

/// Bounds that `actors/supervisor` keeps. A name says the thing and the unit.
/// The value itself is accepted; value + 1 is refused.
namespace weir::limits {

using namespace std::chrono_literals;

/// The time from one lap to the next, or `listing_interval` where that is
/// shorter.
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

/// With a short interval, each lap asks about at least this many repos of a
/// host.
constexpr size_t uncovered_asked_per_lap_min = 8;

/// Hosts are told apart by a hash with this many values, which bounds the
/// memory. Two hosts with the same value share a budget.
constexpr size_t uncovered_host_slots = 4'096;

/// The most questions from one page of rows, and the pause after a page that
/// had questions. At this pace 100,000 repos take about half an hour.
constexpr size_t uncovered_page_max = 128;
constexpr std::chrono::seconds uncovered_page_pause{2};

} // namespace weir::limits
