#pragma once

#include <vector>

namespace weir::bench {

/// Two numbers for repeated measurements.
struct spread {
  double median = 0;
  double mad = 0; ///< Median of the distances to the median.

  /// `mad` in percent of `median`.
  double mad_percent() const noexcept {
    return median == 0 ? 0 : 100 * mad / median;
  }
};

/// @pre `x` is not empty
spread spread_of(std::vector<double> x);

} // namespace weir::bench
