#pragma once

#include <chrono>

namespace weir::limits {

/// The smallest and the largest value that an option accepts, and its default.
template <class T>
struct option_range {
  T min;
  T max;
  T standard{};
};

using option_seconds = option_range<std::chrono::seconds>;

} // namespace weir::limits
