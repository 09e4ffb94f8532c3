#pragma once

#include <algorithm>
#include <cmath>
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
inline double median_of(std::vector<double>& x) {
  const auto middle = x.begin() + static_cast<ptrdiff_t>(x.size() / 2);
  std::ranges::nth_element(x, middle);
  if (x.size() % 2 != 0)
    return *middle;
  return (*std::max_element(x.begin(), middle) + *middle) / 2;
}

/// @pre `x` is not empty
inline spread spread_of(std::vector<double> x) {
  spread out;
  out.median = median_of(x);
  for (auto& y : x)
    y = std::abs(y - out.median);
  out.mad = median_of(x);
  return out;
}

} // namespace weir::bench
