#pragma once

#include "base/clock.hpp"

#include <chrono>
#include <map>
#include <span>
#include <string>
#include <string_view>

namespace weir::apps {

/// Prints lines of the demo on standard output: `[ 4.2s] backfill   ...`, with
/// the time since this object was made.
class demo_report {
public:
  demo_report() : start_(system_clock().steady_now()) {}

  void line(std::string_view what, std::string_view sentence) const;

  double seconds() const {
    const auto passed = system_clock().steady_now() - start_;
    return std::chrono::duration<double>{passed}.count();
  }

private:
  steady_time start_;
};

/// Formats `61,204`.
std::string grouped(uint64_t x);

/// Formats `1.9 ms`, `2.5 s`.
std::string readable(std::chrono::microseconds x);

/// The value that the given share of `sorted` does not exceed; 0 when it is
/// empty.
/// @param share In (0, 1].
std::chrono::microseconds
percentile(std::span<const std::chrono::microseconds> sorted, double share);

/// Formats `bad_signature 2, broken_chain 1`.
std::string listed(const std::map<std::string, uint64_t>& counts);

} // namespace weir::apps
