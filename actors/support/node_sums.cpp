#include "actors/support/node_sums.hpp"

#include "actors/support/state_words.hpp"

#include <algorithm>

namespace weir::actors {

using storage::account_status;
using storage::repo_status;

uint64_t repo_count(const context& x) {
  return x.sum([](const partition_context& y) {
    return y.stats.repo_count();
  });
}

std::vector<state_count> repo_states(const context& x) {
  std::vector<state_count> out;
  for (const auto each :
       {repo_status::pending, repo_status::syncing, repo_status::synced,
        repo_status::error, repo_status::desync})
    out.push_back({storage::to_string(each), x.sum([&](const auto& y) {
                     return y.stats.statuses[static_cast<size_t>(each)].load();
                   })});
  return out;
}

std::vector<state_count> account_states(const context& x) {
  std::vector<state_count> out;
  for (const auto each :
       {account_status::active, account_status::takendown,
        account_status::suspended, account_status::deactivated,
        account_status::deleted, account_status::inactive})
    out.push_back({account_word(each), x.sum([&](const auto& y) {
                     return y.stats.accounts[static_cast<size_t>(each)].load();
                   })});
  return out;
}

storage::family_sizes store_sizes(const context& x) {
  storage::family_sizes out{};
  for (const auto& each : x.partitions()) {
    const auto sizes = each->growth.sizes();
    for (size_t i = 0; i < out.size(); ++i)
      out[i] += sizes[i];
  }
  return out;
}

std::optional<double> store_growth_per_day(const context& x) {
  double out = 0;
  for (const auto& each : x.partitions()) {
    const auto growth = each->growth.per_day();
    if (!growth)
      return std::nullopt;
    out += *growth;
  }
  return out;
}

double backlog_seconds(const context& x, wall_time now) {
  double out = 0;
  for (const auto& each : x.partitions())
    out = std::max(out, each->outbox.backlog_seconds(now));
  return out;
}

event_range durable_events(const context& x) {
  event_range out;
  for (const auto& each : x.partitions()) {
    const auto last = each->stats.durable.load();
    if (last == 0)
      continue;
    const auto begin = each->numbers.id_of(1).value();
    out.begin = out.begin == 0 ? begin : std::min(out.begin, begin);
    out.end = std::max(out.end, each->numbers.id_of(last).value());
  }
  return out;
}

} // namespace weir::actors
