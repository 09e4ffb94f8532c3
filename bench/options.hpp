#pragma once

#include "simnet/options.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

namespace weir::bench {

/// What the command line asks for.
struct bench_options {
  std::string workload = "all"; ///< micro, live, backfill, first or all.
  bool quick = false;           ///< Small inputs: does it run at all.
  uint64_t seed = 1;
  size_t repeats = 0;        ///< Of each load; 0 = by `quick`.
  std::string json;          ///< File that gets one JSON line a result.
  std::filesystem::path dir; ///< Corpora and stores; needs a real disk.

  bool wants(std::string_view name) const {
    return workload == "all" || workload == name;
  }
};

/// How large the workloads are.
struct bench_sizes {
  simnet::population_options live;
  size_t live_events = 0;
  simnet::population_options backfill;
  simnet::population_options first;
  size_t repeats = 0;
  std::chrono::milliseconds calibration{0};
  std::chrono::milliseconds slot{0}; ///< Of a micro benchmark.
  size_t slots = 0;
  std::chrono::seconds patience{0}; ///< For one phase of a load.
};

/// Where files go unless the command line says: `$XDG_CACHE_HOME/weir-bench`,
/// `$HOME/.cache/weir-bench`, or the temporary directory.
std::filesystem::path default_dir();

bench_sizes sizes_of(const bench_options& x);

} // namespace weir::bench
