#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>

namespace weir::bench {

/// The speed of this machine at this moment, in k256 signature checks per
/// second of one core. Only libsecp256k1 is measured, so no change of ours
/// affects it.
///
/// The result is the median of several slots of thread CPU time. It takes
/// `duration`.
double calibrate(std::chrono::milliseconds duration);

/// The result of `calibrate` on the quiet reference machine (benchmarks.md, How
/// to read it). Reference figures are scaled by `calibration /
/// reference_calibration`.
constexpr double reference_calibration = 22'500;

/// Calibrations that differ by more than this belong to different machines, or
/// to a machine that was not quiet.
constexpr double drift_percent_max = 5;

/// The calibrations before and after one run.
struct calibration_pair {
  double before = 0;
  double after = 0;

  double mean() const noexcept { return (before + after) / 2; }

  /// Their difference, in percent of the greater one.
  double drift_percent() const noexcept {
    const auto most = std::max(before, after);
    return most == 0 ? 0 : 100 * std::abs(before - after) / most;
  }

  bool drifted() const noexcept { return drift_percent() > drift_percent_max; }
};

} // namespace weir::bench
