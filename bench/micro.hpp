#pragma once

#include "bench/calibration.hpp"
#include "bench/corpus_cache.hpp"
#include "bench/options.hpp"
#include "bench/statistics.hpp"

#include <functional>
#include <string>
#include <vector>

namespace weir::bench {

/// One step of the work on a commit or a repo, measured alone on one core.
struct stage {
  std::string name;
  std::string what;           ///< What one operation is.
  double reference_nanos = 0; ///< Time on the reference machine.
  /// Does a batch of operations. Returns how many.
  std::function<size_t()> run;
  /// The threads that it starts count, too, such as those of the store.
  bool whole_process = false;
};

struct micro_result {
  std::string name;
  std::string what;
  spread nanos; ///< CPU time per operation.
  double reference_nanos = 0;
  calibration_pair calibration;

  /// The reference time scaled to the speed of this machine.
  double reference_here() const noexcept {
    return reference_nanos * reference_calibration / calibration.mean();
  }

  /// Greater than 1 when it is faster than the reference.
  double ratio() const noexcept { return reference_here() / nanos.median; }
};

/// The median of several slots. The first slot fills caches and does not count.
micro_result measure(const stage& x, const bench_sizes& sizes);

/// Measures all stages with the commits and repos of the live corpus.
result<std::vector<micro_result>> measure_micro(const bench_options& options,
                                                const bench_sizes& sizes);

} // namespace weir::bench
