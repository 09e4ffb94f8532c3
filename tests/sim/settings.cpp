#include "tests/sim/settings.hpp"

#include "tests/sim/crowds.hpp"
#include "tests/sim/enemies.hpp"
#include "tests/sim/oddities.hpp"
#include "tests/sim/plots.hpp"
#include "tests/sim/pressure.hpp"
#include "tests/sim/scope.hpp"

#include <algorithm>
#include <array>

namespace weir::sim {

namespace {

using namespace std::chrono_literals;

/// Changes that only a listing finds wait for two of them, six hours apart, and
/// longer.
constexpr auto settle_with_listings = 30h;

/// The time over which deeds are spread. Most runs are short, so that there can
/// be many; some take days.
std::chrono::microseconds draw_span(random_source& random) {
  const auto which = random.below(40);
  if (which < 8)
    return 10s;
  if (which < 24)
    return 2min;
  if (which < 34)
    return 15min;
  if (which < 39)
    return 4h;
  return 80h;
}

/// Small worlds: errors occur in them, too, and thousands of runs are worth
/// more than one large one.
void draw_world(run_settings& out, random_source& random) {
  auto& people = out.world.population;
  people.seed = random.next();
  people.hosts = 1 + random.below(4);
  people.accounts = people.hosts + random.below(20);
  people.records = people.accounts * (1 + random.below(12));
  if (people.hosts > 1 && random.below(3) == 0)
    people.lone_hosts = random.below(people.hosts);
  // One network in four is mostly inactive, as large ones are.
  if (random.below(4) == 0)
    people.deactivated = people.accounts * 9 / 10;
  else
    people.deactivated = random.below(1 + people.accounts / 4);
  out.world.legacy_documents = random.below(8) == 0;
  out.world.gzip = random.below(4) == 0;
  out.world.relay = true;
  if (random.below(2) == 0)
    out.world.domain = "sim.test";
  out.world.window.frames_max = random.below(3) == 0 ? 40 : 100'000;
}

void draw_node(run_settings& out, random_source& random) {
  auto& node = out.node;
  node.data_dir = "/store";
  node.bind = "127.0.0.1:2480";
  node.operations_bind = "127.0.0.1:2481";
  node.allow_private_addresses = true;
  node.mode = actors::tracking_mode::full_network;
  node.most.routers = 1 + random.below(3);
  node.readers = 1 + random.below(2);
  node.threads = 1;
  node.sync_parallelism = 1 + random.below(6);
  if (random.below(4) == 0) {
    node.consumer_window_events = 4; // Most events wait until others are acked.
    out.speed.sync = 200ms;          // Commits wait for earlier ones.
    out.dies_in_writes = true;
  }
  node.consumer_disable_acks = random.below(6) == 0;
  out.audited = random.below(2) == 0;
  node.listing_interval = !out.audited         ? 720h
                          : random.below(2) == 0 ? 1h
                                                 : 6h;
  if (random.below(2) == 0)
    node.completeness_interval = 720h; // No check of all rows helps either.
  if (random.below(2) == 0) {
    node.memory_limit = 134'217'728;
    node.sync_parallelism = std::min<size_t>(node.sync_parallelism, 3);
  }
  constexpr std::array paces{20.0, 20.0, 200.0};
  node.plc_per_second = paces[random.below(paces.size())];
}

/// The interval is the longest pause between two listings: a node that may
/// request fifty pages an hour lists a small host every minute or two. Half of
/// the runs with listings do so, and those that have no time for the next one.
/// In the others no listing comes before the interval.
void hold_listings(run_settings& out) {
  const auto waits = std::min(out.settle_max, out.settle_again_max)
                     >= settle_with_listings;
  if (!out.audited || (waits && out.seed % 2 == 0))
    out.node.listing_pause = out.node.listing_interval;
}

} // namespace

run_settings draw_settings(uint64_t seed, const clock& time,
                           const std::function<void(run_settings&)>& alter) {
  const auto random = seeded_random(seed);
  run_settings out;
  out.seed = seed;
  out.span = draw_span(*random);
  out.rounds = out.span > 1h ? 1 : 1 + random->below(5);
  out.speed.grain = out.span > 1h ? 10s : out.span > 10min ? 1s : 0s;
  constexpr std::array turns{0us, 0us, 30us, 300us};
  out.speed.turn = turns[random->below(turns.size())];
  constexpr std::array<std::chrono::microseconds, 4> syncs{0us, 2ms, 20ms,
                                                           200ms};
  out.speed.sync = syncs[random->below(syncs.size())];
  constexpr std::array orders{order::fair, order::drawn, order::drawn,
                              order::hasty};
  out.speed.how = orders[random->below(orders.size())];
  out.world.time = &time;
  draw_world(out, *random);
  draw_node(out, *random);
  constexpr std::array ways{following::relay, following::hosts,
                            following::both};
  out.follows = ways[random->below(ways.size())];
  out.lives_on = random->below(5) == 0;
  out.ends_in_peace = random->below(3) == 0;
  out.latency = std::chrono::microseconds{100 + random->below(100'000)};
  constexpr std::array<uint64_t, 4> rates{0, 0, 60'000, 25'000};
  out.rate = rates[random->below(rates.size())];
  out.settle_max = out.audited ? settle_with_listings : 3h;
  out.sound = random->below(4) == 0;
  if (out.sound)
    out.world.window = {};
  draw_enemies(out);
  out.sound = out.sound && out.world.hostile.empty();
  draw_crowds(out);
  draw_pressure(out);
  out.sound = out.sound && out.subject == theme::none;
  out.settle_again_max = out.settle_max;
  draw_plot(out);
  draw_oddity(out);
  draw_scope(out);
  hold_listings(out);
  // An account's part of the names is a share of one store's.
  constexpr std::array<size_t, 4> partitions{1, 1, 2, 4};
  if (out.subject != theme::names && out.subject != theme::broad)
    out.node.partitions = partitions[seed / 2 % partitions.size()];
  constexpr std::array<std::chrono::seconds, 4> retentions{
    limits::log_retention_range.standard, 1s, 5min, 2h};
  out.node.log_retention = retentions[seed / 7 % retentions.size()];
  // In such a run the log may be trimmed before anybody has read it.
  out.reads_late = out.about == plot::none && out.subject == theme::none
                   && seed % 3 == 0;
  // Worlds are small, but every fifth reads the directory's export
  // nevertheless.
  if (seed % 5 == 4)
    out.node.most.export_wanted_min = 2;
  if (alter)
    alter(out);
  return out;
}

} // namespace weir::sim
