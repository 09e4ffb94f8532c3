#pragma once

#include <chrono>

namespace weir::limits {

/// Smallest and largest value an option takes, both accepted, and what it is
/// when nobody says.
template <class T>
struct option_range {
  T min;
  T max;
  T standard{};
};

using option_seconds = option_range<std::chrono::seconds>;

} // namespace weir::limits
