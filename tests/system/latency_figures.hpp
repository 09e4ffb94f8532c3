#pragma once

#include "tests/system/followed_host.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace weir::tests {

/// What one way of measuring gave, run by run: milliseconds.
class latency_figures {
public:
  explicit latency_figures(std::string name) : name_(std::move(name)) {
    // nop
  }

  /// All commits of one run.
  void add(std::vector<double> run);

  /// The median of the runs.
  double p99() const;

  /// The least, the median and the most of the runs, for each part of the
  /// commits: lines.
  std::string text() const;

  uint64_t bad_frames = 0; ///< In all runs.

private:
  std::string name_;
  std::vector<std::vector<double>> runs_; ///< Each in order of size.
};

/// By how many percent the p99 beside others is above the one alone.
double difference(const latency_figures& alone, const latency_figures& company);

/// What the machine did since the object was made, and what it has to do.
class machine_load {
public:
  machine_load();

  /// Load averages, and what others on its host had of its processors.
  std::string text() const;

private:
  std::chrono::steady_clock::time_point since_;
  uint64_t stolen_;
};

} // namespace weir::tests
