#include "tests/sim/oddities.hpp"

#include "tests/sim/oddity_writer.hpp"

#include <algorithm>
#include <array>

namespace weir::sim {

namespace {

using namespace std::chrono_literals;

/// Each entry below gets one run in this number.
constexpr uint64_t one_run_in = 30;

/// States occur twice, because few of their runs have hosts that answer in
/// time. Holes occur twice, because there are two kinds.
constexpr std::array drawn{plot::misfits, plot::states, plot::waits,
                           plot::lags,    plot::holes,  plot::quiet,
                           plot::states,  plot::drains, plot::backlogs,
                           plot::numbers, plot::replays,
                           plot::erasures, plot::ailing, plot::holes,
                           plot::behind};

/// Listings come every minute or two, and what they show may be on its way.
void draw_listings(run_settings& out, random_source& random) {
  out.sound = out.audited = true;
  out.rate = 0; // Only throttled servers are slow.
  out.node.listing_interval = std::chrono::minutes{1 + random.below(2)};
  out.node.listing_requests_per_hour = 10'000;
  out.node.listing_grace = std::chrono::seconds{10 + random.below(50)};
}

void draw_one_stream(run_settings& out) {
  if (out.follows == following::both)
    out.follows = following::relay;
  auto& people = out.world.population;
  people.hosts = 1;
  people.lone_hosts = 0;
}

void draw_numbers(run_settings& out) {
  draw_one_stream(out);
  out.world.population.accounts = 24;
  out.node.most.routers = 1;
  // Frames wait when more than four repos are active.
  out.node.most.residents = 2;
}

void draw_replays(run_settings& out) {
  draw_one_stream(out);
  out.world.population.accounts
    = std::clamp<size_t>(out.world.population.accounts, 4, 12);
  out.rounds = 1;
  out.span = 15min;  // The node's claims are checked.
  out.rate = 15'000; // Few frames a second, but never ten seconds without any.
  out.ends_in_peace = true;
}

/// The node's claims are checked all the time.
void draw_behind(run_settings& out) {
  draw_one_stream(out);
  out.rounds = 1;
  out.rate = 0;
  out.span = 40min;
  out.ends_in_peace = true;
}

/// The disk is slow, so that erased data is still there for a moment.
void draw_erasures(run_settings& out, random_source& random) {
  out.node.consumer_disable_acks = false;
  out.speed.sync = std::chrono::milliseconds{100 + random.below(900)};
  out.ends_in_peace = true;
}

} // namespace

bool is_oddity(plot x) noexcept {
  return static_cast<size_t>(x) >= first_oddity;
}

void draw_oddity(run_settings& out) {
  const auto random = seeded_random(out.seed ^ 0xa0761d6478bd642fu);
  const auto which = random->below(one_run_in);
  if (which >= drawn.size() || out.subject != theme::none
      || out.about != plot::none)
    return;
  out.about = drawn[which];
  leave_alone(out);
  out.rounds = 1 + random->below(3);
  if (out.about == plot::states) {
    out.sound = true;
    out.world.window = {};
    out.world.population.accounts
      = std::min<size_t>(out.world.population.accounts, 12);
  }
  if (out.about == plot::backlogs)
    draw_listings(out, *random);
  if ((out.about == plot::holes || out.about == plot::quiet)
      && out.follows == following::both)
    out.follows = following::hosts; // No other upstream has its events.
  if (out.about == plot::numbers)
    draw_numbers(out);
  if (out.about == plot::replays)
    draw_replays(out);
  if (out.about == plot::behind)
    draw_behind(out);
  if (out.about == plot::erasures)
    draw_erasures(out, *random);
  if (out.about == plot::waits || out.about == plot::lags
      || out.about == plot::drains)
    out.ends_in_peace = true;
}

void draw_oddity_round(const run_settings& settings, size_t round,
                       random_source& random, std::vector<deed>& out) {
  oddity_writer{settings, round, random, out}.write();
}

} // namespace weir::sim
