#pragma once

#include "bench/calibration.hpp"
#include "bench/corpus_cache.hpp"
#include "bench/options.hpp"
#include "bench/statistics.hpp"

#include <functional>
#include <string>
#include <vector>

namespace weir::bench {

/// One step of the work on a commit or a repo, alone on one core.
struct stage {
  std::string name;
  std::string what;           ///< What one operation is.
  double reference_nanos = 0; ///< Of the prototype, on its machine.
  /// Does a batch of operations; returns how many.
  std::function<size_t()> run;
  /// Threads of its own count, too: the store's.
  bool whole_process = false;
};

struct micro_result {
  std::string name;
  std::string what;
  spread nanos; ///< CPU time an operation.
  double reference_nanos = 0;
  calibration_pair calibration;

  /// The reference on this machine, by the speed it had.
  double reference_here() const noexcept;

  /// Above 1: faster than the reference.
  double ratio() const noexcept { return reference_here() / nanos.median; }
};

/// Median of slots; the first one, in which caches fill, does not count.
micro_result measure(const stage& x, const bench_sizes& sizes);

/// All stages, on the commits and repos of the live corpus.
result<std::vector<micro_result>> measure_micro(const bench_options& options,
                                                const bench_sizes& sizes);

} // namespace weir::bench
