#include "tests/sim/deeds.hpp"

#include "actors/support/limits.hpp"
#include "tests/sim/oddities.hpp"
#include "tests/sim/plots.hpp"
#include "tests/sim/pressure.hpp"

#include <algorithm>
#include <cmath>

namespace weir::sim {

namespace {

using namespace std::chrono_literals;
using std::chrono::microseconds;
using simnet::fault_kind;

constexpr std::array<const char*, deed_kinds> names{
  "life",      "writes",    "newcomers",  "fault", "refuse",        "swallow",
  "stall",     "crawl",      "cut",   "unname",        "mute_name",
  "clock",     "disk_full",
  "disk_error", "kill",      "kill_in_write", "kill_again", "power", "restart",
  "hang_up",   "forget",     "add",   "remove",        "resync",
  "die",       "all_write",  "flap",  "names",         "bodies",
  "leave"};

/// The relative frequency of each kind.
constexpr std::array<unsigned, deed_kinds> weights{
  12, 16, 3, 30, 4, 3, 3, 2, 3, 2, 2, 4, 2,
  2,  2,  2, 2,  2, 2, 3, 3, 1, 1, 5, 0, 0,
  0,  0,  0,  0}; // pressure.hpp, plots.hpp

/// A random duration whose logarithm is uniform: each magnitude is equally
/// likely.
microseconds draw_between(microseconds least, microseconds most,
                          random_source& random) {
  const auto from = std::log(double(least.count()));
  const auto to = std::log(double(most.count()));
  return microseconds{
    static_cast<int64_t>(std::exp(from + random.unit() * (to - from)))};
}

deed_kind draw_kind(random_source& random) {
  unsigned sum = 0;
  for (const auto x : weights)
    sum += x;
  auto left = random.below(sum);
  for (size_t i = 0; i < weights.size(); ++i) {
    if (left < weights[i])
      return static_cast<deed_kind>(i);
    left -= weights[i];
  }
  return deed_kind::life;
}

/// Faults that happen only in runs with their plot, in ascending order.
constexpr std::array of_plots{fault_kind::bad_shape,
                              fault_kind::early_commit,
                              fault_kind::announce_state,
                              fault_kind::stale_repo,
                              fault_kind::host_down,
                              fault_kind::host_hang};

fault_kind draw_fault(random_source& random) {
  for (;;) {
    auto which = random.below(simnet::fault_kinds - of_plots.size());
    for (const auto x : of_plots)
      which += which >= static_cast<size_t>(x) ? 1 : 0;
    const auto out = static_cast<fault_kind>(which);
    if (out != fault_kind::mend && out != fault_kind::directory_up)
      return out;
  }
}

int64_t draw_value(deed_kind kind, random_source& random) {
  const auto pick = [&random](auto... xs) {
    const std::array all{static_cast<int64_t>(xs)...};
    return all[random.below(all.size())];
  };
  switch (kind) {
    case deed_kind::life:
      return 1 + static_cast<int64_t>(random.below(30));
    case deed_kind::writes:
      return pick(1, 2, 5, 20, 80);
    case deed_kind::newcomers:
      return 1 + static_cast<int64_t>(random.below(3));
    case deed_kind::crawl:
      return pick(200, 2'000, 20'000);
    case deed_kind::clock: {
      const auto by = pick(400, 3'600, 86'400, 40'000'000, 315'000'000);
      return random.below(2) == 0 ? by : -by;
    }
    case deed_kind::disk_full:
      return static_cast<int64_t>(random.below(20'000));
    case deed_kind::disk_error:
    case deed_kind::kill_in_write:
    case deed_kind::kill_again:
    case deed_kind::power:
      return 1 + static_cast<int64_t>(random.below(60));
    default:
      return 0;
  }
}

deed draw_deed(microseconds span, random_source& random) {
  deed out;
  out.kind = draw_kind(random);
  out.what = draw_fault(random);
  constexpr std::array servers{server::host, server::host, server::relay,
                               server::directory};
  out.of = servers[random.below(servers.size())];
  out.number = random.below(64);
  out.value = draw_value(out.kind, random);
  out.lasting = out.kind == deed_kind::writes
                  ? draw_between(1ms, 20s, random)
                  : draw_between(1s, std::min<microseconds>(span, 72h), random);
  out.silent = random.below(6) == 0;
  return out;
}

/// Turns a deed that makes a host unreachable into one in which it is reached
/// but does not serve.
void fall_ill(deed& x) {
  const auto is_dead = x.kind == deed_kind::refuse || x.kind == deed_kind::swallow;
  if (!is_dead || x.of != server::host || x.number % 4 != 1)
    return;
  x.what = x.kind == deed_kind::refuse ? fault_kind::host_down
                                       : fault_kind::host_hang;
  x.kind = deed_kind::fault;
}

/// The same deed, or a similar one, that streams tell.
deed told(deed x) {
  x.silent = false;
  if (x.what == fault_kind::lose_silently || x.what == fault_kind::tombstone)
    x.what = fault_kind::lose_window;
  return x;
}

/// A node that is killed may have to fetch again what it received and had not
/// checked. A stream that crawls looks quiet at first, and a listing does not
/// wait for ever for a stream that is behind.
bool breaks_chains(const deed& x) {
  switch (x.kind) {
    case deed_kind::kill:
    case deed_kind::kill_in_write:
    case deed_kind::kill_again:
    case deed_kind::power:
    case deed_kind::clock:
    case deed_kind::disk_full:
    case deed_kind::disk_error:
    case deed_kind::add:
    case deed_kind::remove:
    case deed_kind::crawl:
      return true;
    case deed_kind::fault:
      break;
    default:
      return false;
  }
  switch (x.what) {
    case fault_kind::throttle_stream:
    case fault_kind::delay_stream:
      return x.lasting > limits::listing_wait_max / 2;
    case fault_kind::drop_connection:
    case fault_kind::repeat_events:
    case fault_kind::change_handle:
    case fault_kind::slow_repo:
    case fault_kind::trickle_repo:
    case fault_kind::failing_repo:
    case fault_kind::cut_repo:
    case fault_kind::rate_limit:
    case fault_kind::host_down:
    case fault_kind::host_hang:
    case fault_kind::directory_down:
    case fault_kind::directory_limit:
    case fault_kind::directory_slow:
    case fault_kind::directory_hang:
    case fault_kind::directory_refuse:
      return false;
    default:
      return true;
  }
}

} // namespace

const char* to_string(server x) noexcept {
  return x == server::host ? "host" : x == server::relay ? "relay"
                                                         : "directory";
}

const char* to_string(deed_kind x) noexcept {
  return names[static_cast<size_t>(x)];
}

std::string describe(const deed& x) {
  auto out = "round " + std::to_string(x.round) + ", at "
             + std::to_string(x.at.count() / 1'000) + " ms: "
             + to_string(x.kind);
  if (x.kind == deed_kind::fault)
    out += std::string{" "} + simnet::to_string(x.what)
           + (x.silent ? ", silent," : "");
  return out + " of " + to_string(x.of) + ", number "
         + std::to_string(x.number) + ", value " + std::to_string(x.value)
         + ", for " + std::to_string(x.lasting.count() / 1'000) + " ms";
}

namespace {

/// An account writes faster than the disk and changes its handle, and the node
/// dies while it takes that in.
void add_deaths_in_writes(const run_settings& settings, size_t round,
                          std::vector<deed>& out, random_source& random) {
  constexpr size_t times = 10;
  for (size_t i = 0; i < times; ++i) {
    deed writes;
    writes.round = round;
    writes.kind = deed_kind::writes;
    writes.number = random.below(64);
    writes.value = 1 + static_cast<int64_t>(random.below(4));
    writes.at = microseconds{static_cast<int64_t>(
      random.below(static_cast<uint64_t>(settings.span.count())))};
    // The handle changes during the writes; that event comes once and waits for
    // the disk, too.
    auto change = writes;
    change.kind = deed_kind::fault;
    change.what = fault_kind::change_handle;
    change.at += draw_between(1ms, 150ms, random);
    out.push_back(change);
    auto death = writes;
    death.kind = deed_kind::kill_in_write;
    death.value = 1 + static_cast<int64_t>(random.below(6));
    death.at = change.at + draw_between(1ms, 300ms, random);
    out.push_back(writes);
    out.push_back(death);
  }
}

/// Most deeds follow soon after another one, so that faults happen while other
/// work is in progress.
void draw_round(const run_settings& settings, size_t round,
                std::vector<deed>& out, random_source& random) {
  std::vector<deed> drawn;
  // Most deeds affect two accounts; otherwise no two would interact.
  const std::array few{random.below(64), random.below(64)};
  microseconds last{0};
  for (auto left = 1 + random.below(16); left > 0; --left) {
    auto x = draw_deed(settings.span, random);
    x.round = round;
    const auto soon = random.below(3) != 0;
    x.at = soon ? last + draw_between(100us, 5s, random)
                : microseconds{static_cast<int64_t>(random.below(
                  static_cast<uint64_t>(settings.span.count())))};
    last = x.at;
    if (random.below(3) != 0)
      x.number = few[random.below(few.size())];
    fall_ill(x);
    if (settings.sound && breaks_chains(x)) {
      x.kind = random.below(2) == 0 ? deed_kind::writes : deed_kind::resync;
      x.value = 1 + static_cast<int64_t>(random.below(10));
    }
    drawn.push_back(settings.audited ? x : told(x));
  }
  if (settings.dies_in_writes && !settings.sound)
    add_deaths_in_writes(settings, round, drawn, random);
  press(settings, round, drawn);
  std::stable_sort(drawn.begin(), drawn.end(),
                   [](const deed& a, const deed& b) { return a.at < b.at; });
  out.insert(out.end(), drawn.begin(), drawn.end());
}

} // namespace

std::vector<deed> draw_deeds(const run_settings& settings) {
  const auto random = seeded_random(settings.seed ^ 0xc2b2ae3d27d4eb4fu);
  std::vector<deed> out;
  if (settings.reads_late) {
    // It comes back with the end of the faults.
    auto& away = out.emplace_back();
    away.kind = deed_kind::leave;
    away.lasting = 10 * settings.span + 24h;
  }
  for (size_t i = 0; i < settings.rounds; ++i)
    if (settings.about == plot::none)
      draw_round(settings, i, out, *random);
    else if (is_oddity(settings.about))
      draw_oddity_round(settings, i, *random, out);
    else
      draw_plot_round(settings, i, *random, out);
  return out;
}

} // namespace weir::sim
