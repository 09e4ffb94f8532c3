#pragma once

#include <chrono>
#include <cstddef>

/// Bounds that `actors/router` keeps. A name says the thing and the unit.
/// The value itself is accepted; value + 1 is refused.
namespace weir::limits {

using namespace std::chrono_literals;

/// A REPO that dies more often than this in the window is left alone for it.
constexpr size_t repo_restarts_max = 5;
constexpr auto repo_restart_window = 60s;
constexpr size_t repo_deaths_known_max = 1'024;

/// REPOs that one wake may ask to close.
constexpr size_t router_close_tries_max = 16;

/// A shard with more than this many times the REPOs that it keeps alive, and
/// one, wakes no further one for a frame. While frames wait the sweep comes this
/// many times as often: nobody says when a REPO that was busy becomes idle.
constexpr size_t resident_crowd_factor = 2;
constexpr int held_tries_per_sweep = 10;
constexpr auto repo_idle_max = 10min;
constexpr auto repo_sweep_interval = 10s; ///< Of a ROUTER, for idle REPOs.

/// The same in one shard of the ROUTER: so many messages may be on their way.
constexpr size_t shard_claims_max = 64;

/// This part of the REPOs that a shard keeps alive may be awake because of what
/// a listing said and no event did.
constexpr size_t listing_doubts_part = 2;

/// While half of these are awake, a listing that has this part of them waits.
constexpr size_t listing_upstream_part = 8;

} // namespace weir::limits
