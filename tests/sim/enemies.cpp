#include "tests/sim/enemies.hpp"

#include "actors/supervisor/limits.hpp"
#include "actors/supervisor/limits_scans.hpp"
#include "simnet/hostile_hosts.hpp"
#include "tests/sim/plots.hpp"
#include "tests/sim/pressure.hpp"
#include "tests/sim/scope.hpp"

#include <algorithm>

namespace weir::sim {

namespace {

using namespace std::chrono_literals;

constexpr uint64_t one_run_in = 6;
constexpr size_t enemies_max = 3;
constexpr size_t accounts_max = 10;
constexpr size_t page_lines = 300;

/// About the amount of data that one connection to a hostile host carries in a
/// run, which determines the cost of such a run.
constexpr uint64_t bytes_of_a_run = 1'000'000;
constexpr uint64_t rate_max = 20'000;

} // namespace

void draw_enemies(run_settings& out) {
  const auto random = seeded_random(out.seed ^ 0xd6e8feb86659fd93u);
  if (random->below(one_run_in) != 0)
    return;
  const auto n = 1 + random->below(enemies_max);
  for (size_t i = 0; i < n; ++i) {
    simnet::hostile_host_options x;
    x.kind = static_cast<simnet::hostility>(
      random->below(simnet::hostilities));
    // The repos of a wide host are large.
    x.accounts = x.kind == simnet::hostility::wide
                   ? 1
                   : 1 + random->below(accounts_max);
    x.bytes_per_second = 2'000;
    x.page_lines = page_lines;
    out.world.hostile.push_back(x);
  }
  out.span = std::min<std::chrono::microseconds>(out.span, 15min);
  // Hostile hosts must send less than the machine can process.
  out.speed.turn = std::min<std::chrono::microseconds>(out.speed.turn, 30us);
  out.speed.grain
    = std::min<std::chrono::microseconds>(out.speed.grain, 1s);
  const auto seconds = static_cast<uint64_t>(out.span / 1s) + 60;
  out.enemy_rate = std::min(rate_max, bytes_of_a_run / seconds);
  // A relay carries little of hostile hosts.
  if (out.follows == following::relay && random->below(2) == 0)
    out.follows = following::hosts;
  out.weighs_fairness = random->below(2) == 0;
  // With the standard number of places they are shared. If there were one or
  // two, a slow host could have all of them until it is found to be slow.
  if (out.weighs_fairness)
    out.node.sync_parallelism = limits::sync_parallelism_range.standard;
  // A window that every stream falls out of would not test fairness.
  if (out.weighs_fairness)
    out.world.window = {};
  // A fetch that began before its stream had a position proves nothing. The
  // check of all rows repairs that, and whether it is needed is a race.
  if (out.weighs_fairness)
    out.node.completeness_interval = limits::completeness_interval_range.standard;
}

void count_settings(const run_settings& x,
                    std::map<std::string, uint64_t>& counts) {
  for (const auto& each : x.world.hostile)
    ++counts[std::string{"hostile host, "} + simnet::to_string(each.kind)];
  if (x.weighs_fairness)
    ++counts["run weighed for fairness"];
  if (x.weighs_buffering)
    ++counts["run with and without buffering"];
  if (x.sound)
    ++counts["run in which nothing breaks a chain"];
  count_pressure(x, counts);
  if (x.rests)
    ++counts["run with a long silence"];
  if (x.node.log_retention != limits::log_retention_range.standard)
    ++counts["run whose log is trimmed"];
  if (x.reads_late)
    ++counts["run that is read late"];
  if (x.world.listing_lines_max < limits::listing_page_asked)
    ++counts["run with short listing pages"];
  if (x.about != plot::none)
    ++counts[std::string{"run about "} + to_string(x.about)];
  const auto& people = x.world.population;
  if (people.accounts >= 200)
    ++counts["run with hundreds of accounts"];
  if (people.deactivated * 10 >= people.accounts * 9)
    ++counts["run with nine of ten inactive"];
  if (people.lone_hosts > 0)
    ++counts["run with hosts of one account"];
  if (x.span > std::chrono::hours{24})
    ++counts["run of days"];
}

std::set<std::string> counted_settings() {
  auto out = counted_pressures();
  out.merge(counted_scopes());
  out.insert({"run weighed for fairness", "run with and without buffering",
              "run in which nothing breaks a chain",
              "run with a long silence",
              "run whose log is trimmed", "run that is read late",
              "run with short listing pages",
              "run with hundreds of accounts", "run with nine of ten inactive",
              "run with hosts of one account", "run of days"});
  for (size_t i = 1; i < plots; ++i)
    out.insert(std::string{"run about "} + to_string(static_cast<plot>(i)));
  for (size_t i = 0; i < simnet::hostilities; ++i)
    out.insert(std::string{"hostile host, "}
               + simnet::to_string(static_cast<simnet::hostility>(i)));
  return out;
}

bool is_of_enemy(const simnet::world& truth, const std::string& did) {
  const auto index = truth.find(did);
  if (!index)
    return false;
  const auto honest = truth.options().population.hosts;
  const auto x = truth.view(*index);
  return x.host >= honest
         || std::any_of(x.former.begin(), x.former.end(),
                        [honest](const auto& y) { return y.host >= honest; });
}

} // namespace weir::sim
