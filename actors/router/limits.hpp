#pragma once

#include <chrono>
#include <cstddef>

/// Limits of `actors/router`: the value itself is allowed, value + 1 is not.
namespace weir::limits {

using namespace std::chrono_literals;

/// A REPO that dies more often than `repo_restarts_max` times within the window
/// is not restarted for the length of the window. Deaths are remembered for at
/// most `repo_deaths_known_max` repos.
constexpr size_t repo_restarts_max = 5;
constexpr auto repo_restart_window = 60s;
constexpr size_t repo_deaths_known_max = 1'024;

/// REPOs that are asked to close when one REPO wakes.
constexpr size_t router_close_tries_max = 16;

/// REPOs that a shard keeps alive however small `memory_limit` is: fewer would
/// be put to sleep and woken again for every batch of frames.
constexpr size_t residents_min = 64;

/// At most `awake_factor_max` times as many REPOs as a shard keeps alive,
/// and one more, may live before frames stop waking others. While frames wait,
/// the sweep runs `held_tries_per_sweep` times as often, since a busy REPO does
/// not report when it becomes idle.
constexpr size_t awake_factor_max = 2;
constexpr int held_tries_per_sweep = 10;
constexpr auto repo_idle_max = 10min;
/// The interval at which a ROUTER looks for idle REPOs.
constexpr auto repo_sweep_interval = 10s;

/// Claims of one stream in one shard of the ROUTER that wait for an answer.
constexpr size_t shard_claims_max = 64;

/// The part of the REPOs that a shard keeps alive (2: half) that may be awake
/// because of a listing line which no event has confirmed yet.
constexpr size_t undecided_part = 2;

/// While half of those places are in use, a listing that already has this part
/// of all of them (8: one eighth) waits.
constexpr size_t listing_upstream_part = 8;

} // namespace weir::limits
