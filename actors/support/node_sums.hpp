#pragma once

#include "actors/support/context.hpp"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

/// What is said of a node and is true of all its partitions together.
namespace weir::actors {

/// Repos that are tracked.
uint64_t repo_count(const context& x);

/// Records that are held.
uint64_t record_count(const context& x);

struct state_count {
  std::string_view word; ///< As in docs/api.md.
  uint64_t count = 0;
};

/// How many repos are in each state, whatever their accounts are.
std::vector<state_count> repo_states(const context& x);

/// Of how many repos the account is in each state.
std::vector<state_count> account_states(const context& x);

/// Of all stores, as they were measured last.
storage::family_sizes store_sizes(const context& x);

/// Bytes a day, once it is known of each store.
std::optional<double> store_growth_per_day(const context& x);

/// Durable events that are not settled yet; events given up and kept.
uint64_t backlog(const context& x);
uint64_t dead_letters(const context& x);

/// Age of the oldest event that could be delivered and is not settled.
double backlog_seconds(const context& x, wall_time now);

/// Ids of the first and of the last event that is durable; 0: there is none.
struct event_range {
  uint64_t begin = 0;
  uint64_t end = 0;
};

event_range durable_events(const context& x);

} // namespace weir::actors
