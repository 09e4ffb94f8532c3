#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

/// What is told of how fetches get on and the store grows, and how often.
namespace weir::limits {

using namespace std::chrono_literals;

/// How often it is looked.
constexpr auto story_look_interval = 1s;
/// How often it is told how far they are; and so long few repos wait before
/// anybody is told of them.
constexpr auto story_interval = 30s;
/// A backfill is over when nobody has waited for so long.
constexpr auto story_rest = 5s;
/// And for so long, when accounts are being looked up.
constexpr auto story_claims_rest = 300s;
/// So many are told of at once.
constexpr uint64_t story_repos_min = 100;

/// Of the fetches that bring nothing, so many are named in so long a time.
constexpr uint64_t fetch_lines_max = 100;
constexpr auto fetch_lines_interval = 60s;

/// Of the events that one consumer gives up, so many are named in so long a time.
constexpr uint64_t letter_lines_max = 60;
constexpr auto letter_lines_interval = 60s;

/// How old the size of the store may be that is shown.
constexpr auto store_size_interval = 30s;
/// How often it is kept to see the growth, and for how long: that of a day.
constexpr auto growth_interval = 10min;
constexpr auto growth_memory = 24h;

} // namespace weir::limits
