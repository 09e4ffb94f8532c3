#include "tests/sim/pressure.hpp"

#include "actors/node/limits.hpp"
#include "actors/supervisor/limits.hpp"
#include "actors/support/limits.hpp"
#include "storage/tables/limits.hpp"

#include <algorithm>
#include <array>

namespace weir::sim {

namespace {

using namespace std::chrono_literals;
using std::chrono::microseconds;

constexpr uint64_t small_bounds_in = 3;
/// Each theme gets one run in this number.
constexpr uint64_t themes_in = 40;

constexpr std::array<const char*, themes> names{
  "none",  "failing hosts", "siege", "by hand", "deaths",
  "names", "doubts",        "flood", "sharing", "look-ups", "broad"};

/// A random number between two numbers, both included.
size_t between(size_t least, size_t most, random_source& random) {
  return least + random.below(most - least + 1);
}

simnet::hostile_host_options enemy(simnet::hostility kind, size_t accounts) {
  simnet::hostile_host_options out;
  out.kind = kind;
  out.accounts = accounts;
  out.bytes_per_second = 2'000;
  out.page_lines = 300;
  return out;
}

void shorten(run_settings& out) {
  out.span = 2min;
  out.rounds = std::min<size_t>(out.rounds, 2);
  out.speed.grain = std::min<microseconds>(out.speed.grain, 1s);
  out.rests = false;
  out.lives_on = false;
  out.sound = false; // Chains break in some of them.
}

void no_enemies(run_settings& out) {
  out.world.hostile.clear();
  out.enemy_rate = 0;
  out.weighs_fairness = false;
}

// -- bounds -------------------------------------------------------------------

void draw_bounds(run_settings& out, random_source& random) {
  auto& most = out.node.most;
  if (random.below(2) == 0)
    most.fetch_queue = between(3, 16, random);
  if (random.below(2) == 0)
    most.preparing = between(2, 10, random);
  if (random.below(2) == 0)
    most.residents = between(3, 16, random);
  if (random.below(2) == 0)
    most.frames = between(16, 80, random);
}

// -- themes -------------------------------------------------------------------

/// More failing repos than the queue in memory can hold.
void draw_failing(run_settings& out, random_source& random) {
  no_enemies(out);
  out.node.most.fetch_queue = between(3, 10, random);
  out.world.hostile.push_back(
    enemy(simnet::hostility::slow,
          out.node.most.fetch_queue + random.below(10)));
  out.enemies_fail = true;
  out.enemy_rate = 20'000;
  out.follows = random.below(2) == 0 ? following::hosts : following::both;
  shorten(out);
}

/// Hosts that crawl, with more accounts than there are permits or places.
void draw_siege(run_settings& out, random_source& random) {
  out.world.hostile.clear();
  const auto n = between(1, 2, random);
  for (size_t i = 0; i < n; ++i)
    out.world.hostile.push_back(
      enemy(simnet::hostility::slow,
            random.below(3) == 0 ? between(4, 10, random)
                                 : between(66, 90, random)));
  out.enemy_rate = 3'000;
  out.follows = random.below(2) == 0 ? following::hosts : following::both;
  out.node.sync_parallelism = between(3, 6, random);
  if (out.node.memory_limit == 134'217'728)
    out.node.sync_parallelism = 3;
  out.node.most = {};
  out.world.window = {};
  out.weighs_fairness = true;
  out.speed.turn = std::min<microseconds>(out.speed.turn, 30us);
  shorten(out);
  out.rounds = 1;
}

/// An operator adds, removes and resyncs repos while look-ups and downloads are
/// slow.
void draw_by_hand(run_settings& out, random_source& random) {
  no_enemies(out);
  out.latency = microseconds{50'000 + random.below(1'500'000)};
  out.directory_latency = microseconds{10'000 + random.below(1'500'000)};
  out.settle_max = 6min;
  out.node.most = {};
  out.removals_stay = random.below(2) == 0;
  // Removed repos do not return, so no repo waits for their places.
  if (out.removals_stay) {
    out.node.most.preparing = between(1, 2, random);
    out.node.plc_per_second = 2;
    out.world.population.accounts
      = std::max<size_t>(out.world.population.accounts, 30);
    out.world.population.deactivated = 0;
  }
  // With such latencies six minutes suffice for some dozens.
  auto& people = out.world.population;
  people.accounts = std::min<size_t>(people.accounts, 40);
  people.records = std::min(people.records, people.accounts * 12);
  people.deactivated = std::min(people.deactivated, people.accounts / 2);
  out.world.listing_lines_max = limits::listing_page_asked;
  out.world.window = {};
  shorten(out);
}

void draw_deaths(run_settings& out, random_source& random) {
  no_enemies(out);
  out.audited = random.below(4) == 0;
  out.node.listing_interval = out.audited ? 1h : 720h;
  out.world.window = {};
  shorten(out);
}

/// Collections that only one account has, and room for few of them.
void draw_names(run_settings& out, random_source& random) {
  no_enemies(out);
  auto& people = out.world.population;
  people.own_collections = between(1, 2, random);
  // All names of a host are within its guaranteed share, in addition to the
  // common ones.
  const size_t most = people.own_collections == 1 ? 8 : 6;
  people.accounts = std::min<size_t>(people.accounts, most * people.hosts);
  people.deactivated = std::min(people.deactivated, people.accounts / 4);
  people.lone_hosts = 0;
  // Half of it exceeds the share that each host is guaranteed.
  out.node.most.names = between(100'000, 200'000, random);
  const auto n = random.below(3);
  for (size_t i = 0; i < n; ++i) {
    auto wide = enemy(simnet::hostility::wide, between(20, 40, random));
    wide.collections = between(10, 20, random);
    out.world.hostile.push_back(wide);
  }
  out.enemy_rate = 200'000;
  out.follows = random.below(2) == 0 ? following::hosts : following::both;
  shorten(out);
}

/// Listings are ahead of streams that hold back their events, and a line counts
/// only after a time.
void draw_doubts(run_settings& out, random_source& random) {
  no_enemies(out);
  auto& people = out.world.population;
  people.hosts = between(1, 2, random);
  people.lone_hosts = 0;
  people.accounts = between(40, 80, random);
  people.records = people.accounts * 2;
  people.deactivated = 0;
  out.world.window = {};
  out.world.listing_lines_max = 1'000;
  out.audited = true;
  out.node.listing_interval = std::chrono::minutes{between(1, 5, random)};
  out.node.listing_grace = std::chrono::minutes{between(4, 12, random)};
  out.node.listing_requests_per_hour = 10'000;
  out.node.most = {};
  out.node.most.routers = 1;
  out.node.most.residents = between(4, 8, random);
  out.node.most.preparing = between(2, 6, random);
  shorten(out);
  out.speed.grain = 1s;
  out.span = 50min;
  out.watches_bounds = 20s;
  out.rounds = 1;
}

/// A disk that takes seconds to sync, and more events than a window holds. In
/// half of the runs also more than a host may send in a second, for a long
/// time.
void draw_flood(run_settings& out, random_source& random) {
  no_enemies(out);
  if (random.below(2) == 0) {
    out.node.pds_events_per_second = between(16, 40, random);
    out.node.most.bytes = between(10'000, 60'000, random);
    if (out.follows == following::relay)
      out.follows = following::hosts;
  }
  out.latency = microseconds{100 + random.below(3'000)};
  out.speed.sync = microseconds{200'000 + random.below(2'000'000)};
  out.node.most.frames = between(16, 64, random);
  out.node.most.residents = limits::resident_repos_max;
  out.watches_bounds = 200ms;
  out.world.window = {};
  shorten(out);
}

/// Honest hosts, all with long latencies.
void draw_sharing(run_settings& out, random_source& random) {
  no_enemies(out);
  auto& people = out.world.population;
  people.hosts = between(2, 4, random);
  people.lone_hosts = random.below(people.hosts);
  people.accounts = between(80, 120, random);
  people.records = people.accounts;
  people.deactivated = 0;
  out.latency = microseconds{1'000 + random.below(100'000)};
  out.rate = 0;
  out.node.sync_parallelism = limits::sync_parallelism_range.standard;
  out.node.plc_per_second = 20;
  out.node.most = {};
  out.world.window = {};
  out.world.listing_lines_max = 1'000;
  out.weighs_sharing = true;
  shorten(out);
  out.rounds = 1;
}

/// A host whose accounts all need look-ups, of which there are few.
void draw_look_ups(run_settings& out, random_source& random) {
  out.world.hostile.clear();
  out.world.domain.clear(); // Hosts of one domain are one site.
  out.world.hostile.push_back(
    enemy(random.below(2) == 0 ? simnet::hostility::fickle
                               : simnet::hostility::fictive,
          between(40, 80, random)));
  out.enemy_rate = 10'000;
  auto& people = out.world.population;
  people.accounts = std::min<size_t>(people.accounts, 10);
  out.node.plc_per_second = random.below(2) == 0 ? 0.5 : 1;
  out.follows = following::hosts;
  out.node.most = {};
  out.world.window = {};
  out.weighs_fairness = true;
  out.fairness_slack = 60s; // Other accounts use the saved budget.
  out.speed.turn = std::min<microseconds>(out.speed.turn, 30us);
  shorten(out);
  out.rounds = 1;
}

/// An account with hundreds of collections that a commit does not change.
void draw_broad(run_settings& out, random_source& random) {
  no_enemies(out);
  auto& people = out.world.population;
  people.more_collections_of_first = between(300, 900, random);
  people.deactivated = 0;
  out.node.memory_limit = limits::memory_limit_range.standard;
  out.node.most.names = limits::names_bytes_max;
  out.weighs_commits = true;
  shorten(out);
  out.rounds = 1;
}

using drawing = void (*)(run_settings&, random_source&);

constexpr std::array<drawing, themes> drawings{
  nullptr,    draw_failing, draw_siege, draw_by_hand, draw_deaths, draw_names,
  draw_doubts, draw_flood, draw_sharing, draw_look_ups, draw_broad};

} // namespace

void draw_pressure(run_settings& out) {
  const auto bounds = seeded_random(out.seed ^ 0xbf58476d1ce4e5b9u);
  if (bounds->below(small_bounds_in) == 0 && !out.weighs_fairness)
    draw_bounds(out, *bounds);
  const auto random = seeded_random(out.seed ^ 0xff51afd7ed558ccdu);
  const auto which = random->below(themes_in);
  if (which == 0 || which >= themes)
    return;
  out.subject = static_cast<theme>(which);
  drawings[which](out, *random);
}

void count_pressure(const run_settings& x,
                    std::map<std::string, uint64_t>& counts) {
  if (x.subject != theme::none)
    ++counts[std::string{"run about "} + names[static_cast<size_t>(x.subject)]];
  const actors::held_bounds standard;
  const auto& most = x.node.most;
  if (most.fetch_queue < standard.fetch_queue)
    ++counts["run with a short queue of fetches"];
  if (most.preparing < standard.preparing)
    ++counts["run with few places for look-ups"];
  if (most.residents < standard.residents)
    ++counts["run with few REPOs in memory"];
  if (most.frames < standard.frames)
    ++counts["run with a small window"];
}

std::set<std::string> counted_pressures() {
  std::set<std::string> out{
    "run with a short queue of fetches", "run with few places for look-ups",
    "run with few REPOs in memory", "run with a small window"};
  for (size_t i = 1; i < themes; ++i)
    out.insert(std::string{"run about "} + names[i]);
  return out;
}

} // namespace weir::sim
