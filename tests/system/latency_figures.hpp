#pragma once

#include "tests/system/followed_host.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace weir::tests {

/// The results of one way of measuring, run by run, in milliseconds.
class latency_figures {
public:
  explicit latency_figures(std::string name) : name_(std::move(name)) {
    // nop
  }

  /// Adds the delays of all commits of one run.
  void add(std::vector<double> run);

  /// The median of the p99 of the runs.
  double p99() const;

  /// The smallest value, the median and the largest value of the runs for each
  /// percentile, one percentile a line.
  std::string text() const;

  uint64_t bad_frames = 0; ///< The sum of all runs.

private:
  std::string name_;
  std::vector<std::vector<double>> runs_; ///< Each run is sorted.
};

/// How many percent the p99 in company is above the p99 alone.
double difference(const latency_figures& alone, const latency_figures& company);

/// What the machine did since the object was made, and its present load.
class machine_load {
public:
  machine_load();

  /// The load averages, and the CPU time that other machines of its host took.
  std::string text() const;

private:
  std::chrono::steady_clock::time_point since_;
  uint64_t stolen_;
};

} // namespace weir::tests
