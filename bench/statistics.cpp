#include "bench/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace weir::bench {

namespace {

double median_of(std::vector<double>& x) {
  const auto middle = x.begin() + static_cast<ptrdiff_t>(x.size() / 2);
  std::ranges::nth_element(x, middle);
  if (x.size() % 2 != 0)
    return *middle;
  return (*std::max_element(x.begin(), middle) + *middle) / 2;
}

} // namespace

spread spread_of(std::vector<double> x) {
  spread out;
  out.median = median_of(x);
  for (auto& y : x)
    y = std::abs(y - out.median);
  out.mad = median_of(x);
  return out;
}

} // namespace weir::bench
