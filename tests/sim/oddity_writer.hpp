#pragma once

#include "tests/sim/deeds.hpp"
#include "tests/sim/plots.hpp"
#include "tests/sim/settings.hpp"

#include <array>
#include <chrono>
#include <vector>

namespace weir::sim {

/// This plot and all later ones are oddities.
constexpr size_t first_oddity = static_cast<size_t>(plot::misfits);

/// Adds deeds to one round, all of them about two accounts.
class oddity_writer {
public:
  oddity_writer(const run_settings& settings, size_t round,
                random_source& random, std::vector<deed>& out)
    : settings_(settings), random_(random), out_(out), round_(round),
      begin_(round == 0 ? begins_after : std::chrono::seconds{0}) {
    // They are the same in each round.
    const auto own = seeded_random(settings.seed ^ 0xd6e8feb86659fd93u);
    for (auto& x : few_)
      x = own->below(64);
  }

  void write();

private:
  void write_misfits();
  void write_states();
  void write_waits();
  void write_wait(std::chrono::microseconds from, size_t number, std::chrono::microseconds back);
  void write_lags();
  void write_holes();
  void write_quiet();
  void write_drains();
  void write_backlogs();
  void write_numbers();
  void write_replays();
  void write_erasures();
  void write_ailing();
  void write_behind();

  deed& add(std::chrono::microseconds at, deed_kind kind, size_t number);
  deed& add_to_stream(std::chrono::microseconds at, simnet::fault_kind what);
  deed& add(std::chrono::microseconds at, simnet::fault_kind what, size_t number);
  void add_writes(std::chrono::microseconds at, size_t number, size_t count,
                  std::chrono::microseconds lasting);

  bool one_in(uint64_t x) { return random_.below(x) == 0; }

  template <class T, size_t N>
  T pick(const std::array<T, N>& all) {
    return all[random_.below(N)];
  }

  const run_settings& settings_;
  random_source& random_;
  std::vector<deed>& out_;
  const size_t round_;
  const std::chrono::microseconds begin_;
  std::array<size_t, 2> few_{};
};

} // namespace weir::sim
