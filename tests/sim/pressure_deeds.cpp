#include "tests/sim/pressure.hpp"

#include <algorithm>
#include <array>

/// Deeds of runs with a theme.
namespace weir::sim {

namespace {

using namespace std::chrono_literals;
using std::chrono::microseconds;

/// A random number between two numbers, both included.
size_t between(size_t least, size_t most, random_source& random) {
  return least + random.below(most - least + 1);
}

deed deed_at(microseconds at, deed_kind kind, size_t number = 0,
             int64_t value = 0) {
  deed out;
  out.at = at;
  out.kind = kind;
  out.number = number;
  out.value = value;
  return out;
}

microseconds moment(microseconds span, random_source& random) {
  return microseconds{static_cast<int64_t>(
    random.below(static_cast<uint64_t>(span.count())))};
}

/// Accounts that no listing has yet are added, and removed while their host is
/// looked up. Then others are added that are never listed and whose hosts must
/// be looked up, too.
void press_removals(const run_settings& x, std::vector<deed>& deeds,
                    random_source& random) {
  const auto hosts = x.world.population.hosts;
  for (size_t i = 0; i <= hosts; ++i) {
    deeds.push_back(deed_at(0us, deed_kind::refuse, i));
    deeds.back().of = i == hosts ? server::relay : server::host;
    deeds.back().lasting = 40s;
  }
  for (auto left = between(2, 6, random); left > 0; --left) {
    const auto at = 1s + moment(20s, random);
    const auto first = random.below(64);
    for (size_t i = 0; i < 5; ++i) {
      const auto added = at + moment(1s, random);
      deeds.push_back(deed_at(added, deed_kind::add, first + i));
      deeds.push_back(deed_at(added + moment(2s, random), deed_kind::remove,
                              first + i));
    }
  }
  for (auto left = between(2, 6, random); left > 0; --left) {
    const auto who = random.below(64);
    auto unlisted = deed_at(0us, deed_kind::fault, who);
    unlisted.what = simnet::fault_kind::unlisted_repo;
    unlisted.lasting = x.span;
    deeds.push_back(unlisted);
    deeds.push_back(deed_at(50s + moment(50s, random), deed_kind::add, who));
  }
}

void press_by_hand(const run_settings& x, std::vector<deed>& deeds,
                   random_source& random) {
  deeds.clear();
  if (x.removals_stay)
    return press_removals(x, deeds, random);
  const auto groups = between(3, 12, random);
  for (size_t i = 0; i < groups; ++i) {
    // Most look-ups happen at the start.
    auto at = moment(random.below(2) == 0 ? 15s : x.span, random);
    const auto who = random.below(64);
    const auto n = between(2, 5, random);
    for (size_t j = 0; j < n; ++j) {
      constexpr std::array kinds{
        deed_kind::add,    deed_kind::remove, deed_kind::remove,
        deed_kind::resync, deed_kind::resync, deed_kind::life,
        deed_kind::fault,  deed_kind::fault};
      constexpr std::array faults{
        simnet::fault_kind::broken_chain, simnet::fault_kind::wrong_prev_data,
        simnet::fault_kind::lose_window, simnet::fault_kind::rotate_key};
      auto each = deed_at(at, kinds[random.below(kinds.size())], who,
                          static_cast<int64_t>(between(1, 6, random)));
      each.what = faults[random.below(faults.size())];
      deeds.push_back(each);
      at += moment(random.below(2) == 0 ? 300ms : 4s, random);
    }
  }
}

void press_deaths(const run_settings& x, std::vector<deed>& deeds,
                  random_source& random) {
  deeds.clear();
  const auto groups = between(2, 10, random);
  for (size_t i = 0; i < groups; ++i) {
    const auto at = random.below(4) == 0 ? 0us : moment(x.span, random);
    const auto who = random.below(64);
    const auto often = random.below(2) == 0;
    auto end = deed_at(at, deed_kind::die, who,
                       static_cast<int64_t>(often ? between(4, 9, random)
                                                  : 1 + random.below(2)));
    end.lasting = often ? 40s : 10s;
    deeds.push_back(end);
    const auto events = between(1, 3, random);
    for (size_t j = 0; j < events; ++j) {
      auto life = deed_at(at + moment(random.below(2) == 0 ? 1s : 20s, random),
                          random.below(6) == 0 ? deed_kind::newcomers
                                               : deed_kind::writes,
                          who, static_cast<int64_t>(between(1, 3, random)));
      life.lasting = 1s;
      deeds.push_back(life);
    }
  }
}

void press_names(const run_settings& x, std::vector<deed>& deeds,
                 random_source& random) {
  // Accounts that are added later get what the others have left.
  for (size_t i = 0; i < x.world.population.hosts; ++i)
    if (random.below(3) != 0) {
      deeds.push_back(deed_at(0us, deed_kind::refuse, i));
      deeds.back().lasting = 40s;
    }
  for (size_t i = 0; i < 2; ++i) {
    auto gone = deed_at(x.span / 2 + moment(x.span / 2, random),
                        deed_kind::fault, random.below(64));
    gone.what = simnet::fault_kind::remove;
    deeds.push_back(gone);
  }
}

void press_doubts(const run_settings& x, std::vector<deed>& deeds,
                  random_source& random) {
  deeds.clear();
  const auto all = x.world.population.hosts;
  for (size_t i = 0; i <= all; ++i) {
    auto held = deed_at(3min, deed_kind::fault, i);
    held.what = simnet::fault_kind::delay_stream;
    held.of = i == all ? server::relay : server::host;
    held.lasting = x.span - 5min;
    deeds.push_back(held);
  }
  deeds.push_back(deed_at(4min, deed_kind::all_write));
  deeds.push_back(deed_at(4min + moment(x.span / 4, random),
                          deed_kind::all_write));
  deeds.push_back(deed_at(x.span - 1min, deed_kind::life, 0, 3));
}

void press_flood(const run_settings& x, std::vector<deed>& deeds,
                 random_source& random) {
  deeds.clear();
  const auto bursts = between(1, 3, random);
  for (size_t i = 0; i < bursts; ++i)
    deeds.push_back(deed_at(20s + moment(x.span / 2, random), deed_kind::life,
                            0,
                            static_cast<int64_t>(between(150, 400, random))));
}

void press_few(const run_settings&, std::vector<deed>& deeds,
               random_source&) {
  deeds.resize(std::min<size_t>(deeds.size(), 3));
}

void choose(const run_settings& settings, std::vector<deed>& deeds,
            random_source& random) {
  switch (settings.subject) {
    case theme::by_hand:
      return press_by_hand(settings, deeds, random);
    case theme::deaths:
      return press_deaths(settings, deeds, random);
    case theme::names:
      return press_names(settings, deeds, random);
    case theme::doubts:
      return press_doubts(settings, deeds, random);
    case theme::flood:
      return press_flood(settings, deeds, random);
    case theme::siege:
    case theme::sharing:
    case theme::look_ups:
      return press_few(settings, deeds, random);
    default:
      return;
  }
}

} // namespace

void press(const run_settings& settings, size_t round,
           std::vector<deed>& deeds) {
  const auto random
    = seeded_random(settings.seed ^ (0xc4ceb9fe1a85ec53u + round));
  choose(settings, deeds, *random);
  for (auto& x : deeds)
    x.round = round;
}

} // namespace weir::sim
