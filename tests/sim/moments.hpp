#pragma once

#include "base/random.hpp"

#include <chrono>
#include <cmath>

namespace weir::sim {

/// A random duration whose logarithm is uniform: each magnitude is equally
/// likely.
inline std::chrono::microseconds between(std::chrono::microseconds least,
                                         std::chrono::microseconds most,
                                         random_source& random) {
  const auto from = std::log(double(least.count()));
  const auto to = std::log(double(most.count()));
  return std::chrono::microseconds{
    static_cast<int64_t>(std::exp(from + random.unit() * (to - from)))};
}

/// A random duration up to `most`, uniform.
inline std::chrono::microseconds within(std::chrono::microseconds most,
                                        random_source& random) {
  return std::chrono::microseconds{static_cast<int64_t>(
    random.below(static_cast<uint64_t>(most.count()) + 1))};
}

} // namespace weir::sim
