#pragma once

#include "simnet/options.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

namespace weir::bench {

/// The options of the command line.
struct bench_options {
  std::string workload = "all"; ///< micro, a load, or all.
  bool quick = false;           ///< Small inputs, only to see whether it works.
  uint64_t seed = 1;
  size_t repeats = 0;        ///< Repetitions of each load; 0 = by `quick`.
  std::string json;          ///< Gets one line of JSON for each result.
  std::filesystem::path dir; ///< Corpora and stores; should be on a real disk.

  bool wants(std::string_view name) const {
    return workload == "all" || workload == name;
  }
};

/// The sizes of the workloads.
struct bench_sizes {
  simnet::population_options live;
  size_t live_events = 0;
  simnet::population_options backfill;
  simnet::population_options first;
  size_t repeats = 0;
  std::chrono::milliseconds calibration{0};
  std::chrono::milliseconds slot{0}; ///< Time of one micro benchmark.
  size_t slots = 0;
  std::chrono::seconds patience{0}; ///< The most for one phase of a load.
  std::chrono::seconds steady_span{0}; ///< What `steady` measures.
};

/// The directory for files unless an option sets another:
/// `$XDG_CACHE_HOME/weir-bench`, `$HOME/.cache/weir-bench`, or the temporary
/// directory.
std::filesystem::path default_dir();

bench_sizes sizes_of(const bench_options& x);

} // namespace weir::bench
