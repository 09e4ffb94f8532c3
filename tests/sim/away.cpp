#include "tests/sim/away.hpp"

#include <utility>

namespace weir::sim {

namespace {

using namespace std::chrono_literals;

/// After this time everything has arrived that was sent before the node knew of
/// the absence, and everything that streams told before.
constexpr auto arrives_within = 10s;

bool is_away(const node_repos& repos, const simnet::account_view& x) {
  const auto listed = repos.find(x.id.str());
  return x.status != simnet::standing::active && listed != repos.end()
         && !listed->second.complete;
}

} // namespace

/// @returns false when records came that should have waited
bool away_watch::note(absence& x, uint64_t came, steady_time now) {
  if (x.is_known)
    return came == x.came;
  x.is_known = now - x.since >= arrives_within;
  x.came = came;
  return true;
}

std::string away_watch::check(scene& x) {
  if (x.settings().about != plot::waits)
    return {};
  const auto repos = x.node_runs() ? x.repos() : node_repos{};
  if (!repos)
    return {};
  const auto now = x.time().now();
  const auto before = std::exchange(away_, {});
  std::string out;
  auto& truth = x.life().truth();
  for (size_t i = 0; i < truth.accounts(); ++i) {
    const auto account = truth.view(i);
    if (!is_away(*repos, account))
      continue;
    const auto did = account.id.str();
    const auto known = before.find(did);
    auto& it = away_[did];
    it = known != before.end() ? known->second : absence{now, false, 0};
    if (!note(it, x.delivered().records_of(did), now))
      out = "a record of " + did + " came, which the node knows to be away";
  }
  return out;
}

} // namespace weir::sim
