#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace CLI {
class App;
} // namespace CLI

namespace weir::apps {

struct demo_options {
  uint64_t seed = 1;
  size_t accounts = 500;
  uint64_t records = 60'000;
  size_t hosts = 3;
  double rate = 500;                 ///< Live events per second.
  std::chrono::seconds duration{12}; ///< Length of the live phase.
  bool direct = false;               ///< Follow the hosts instead of the relay.
  bool forever = false;              ///< Run on, without faults and proof.
};

/// The content of conf/demo.toml when the program was built.
extern const std::string_view demo_toml;

/// Runs the engine against a simulated network and proves that it did its job.
/// It finds repos, fetches and verifies their history, follows the live stream
/// through faults, delivers every event to a consumer, and then compares all
/// copies with the network.
///
/// Prints its progress. The last line begins with `DEMO OK` or `DEMO FAILED`.
/// @returns the exit status of the program.
int run_demo(const demo_options& options);

/// The command `weir demo`; commands.hpp has the others.
void add_demo(CLI::App& app, int& status);

} // namespace weir::apps
