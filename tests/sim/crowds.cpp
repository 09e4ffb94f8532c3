#include "tests/sim/crowds.hpp"

#include <algorithm>

namespace weir::sim {

namespace {

using namespace std::chrono_literals;

constexpr uint64_t short_pages_in = 4;
constexpr uint64_t one_giant_in = 10;
constexpr uint64_t many_accounts_in = 50;
constexpr uint64_t silence_in = 40;
constexpr uint64_t buffering_in = 12;

/// The node requests a thousand lines and gets a few, so it requests the next
/// page soon. Thus pages are read all the time while accounts come, go and
/// move.
void shorten_pages(run_settings& out, random_source& random) {
  out.world.listing_lines_max = 1 + random.below(5);
  if (out.audited && out.span < 1h)
    out.node.listing_interval = 30s;
}

/// All hosts except one have one account.
void make_giant(run_settings& out) {
  auto& people = out.world.population;
  people.lone_hosts = people.hosts - 1;
  people.accounts = std::max<size_t>(people.accounts, 40);
  people.records = people.accounts * 2;
  people.deactivated = people.accounts / 2;
}

/// Nine of ten accounts are inactive.
void make_many(run_settings& out, random_source& random) {
  auto& people = out.world.population;
  people.accounts = 200 + random.below(200);
  people.records = people.accounts;
  people.deactivated = people.accounts * 9 / 10;
  out.world.listing_lines_max = 20 + random.below(80);
}

} // namespace

void draw_crowds(run_settings& out) {
  const auto random = seeded_random(out.seed ^ 0x94d049bb133111ebu);
  if (random->below(short_pages_in) == 0)
    shorten_pages(out, *random);
  if (random->below(one_giant_in) == 0)
    make_giant(out);
  if (random->below(many_accounts_in) == 0)
    make_many(out, *random);
  // Hostile hosts send without end, which is not a silence.
  out.rests = out.world.hostile.empty() && random->below(silence_in) == 0;
  out.weighs_buffering = random->below(buffering_in) == 0;
}

} // namespace weir::sim
