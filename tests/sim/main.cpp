#include "tests/sim/trial.hpp"

#include "base/log.hpp"

#include <chrono>
#include <cstdlib>
#include <iostream>

int main(int argc, char** argv) {
  using namespace weir;
  log::configure(getenv("SIMLOG") ? log::level::info : log::level::off, log::format::text);
  const uint64_t first = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1;
  const uint64_t last = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : first;
  for (auto seed = first; seed <= last; ++seed) {
    const auto begin = std::chrono::steady_clock::now();
    const auto x = sim::run_trial(seed, argc > 3 ? &std::cout : nullptr);
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin).count();
    std::cout << seed << ' ' << (x.good() ? "good" : x.broken + ": " + x.how)
              << " steps " << x.steps << " hash " << x.trace_hash << " virtual " << x.virtual_time.count() << " s settled " << x.settled_after.count() << " s ms " << ms << std::endl;
  }
}
