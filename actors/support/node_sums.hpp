#pragma once

#include "actors/support/context.hpp"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

/// Sums over all partitions of a node.
namespace weir::actors {

/// Repos that are tracked.
uint64_t repo_count(const context& x);

/// Records in the copies.
inline uint64_t record_count(const context& x) {
  return x.sum(&store_stats::records);
}

struct state_count {
  std::string_view word; ///< The word that docs/api.md has.
  uint64_t count = 0;
};

/// Number of repos in each state, whatever their account status.
std::vector<state_count> repo_states(const context& x);

/// Number of repos by account status.
std::vector<state_count> account_states(const context& x);

/// Sizes of all stores at their last measurement.
storage::family_sizes store_sizes(const context& x);

/// Bytes a day, once the growth of each store is known.
std::optional<double> store_growth_per_day(const context& x);

/// Durable events that are not settled yet, and dead letters that are kept.
inline uint64_t backlog(const context& x) {
  return x.sum(&consumer_stats::backlog);
}
inline uint64_t dead_letters(const context& x) {
  return x.sum(&consumer_stats::dead_letters);
}

/// Age of the oldest event that could be delivered and is not settled.
double backlog_seconds(const context& x, wall_time now);

/// Ids of the first and of the last durable event; 0 when there is none.
struct event_range {
  uint64_t begin = 0;
  uint64_t end = 0;
};

event_range durable_events(const context& x);

} // namespace weir::actors
