#pragma once

#include <chrono>

namespace weir::bench {

/// The speed of this machine at this moment: k256 signature checks a second of
/// one core, by libsecp256k1 alone, so that no change of ours moves it
/// (benchmarks.md, How to read it).
///
/// Thread CPU time, median of slots; takes `duration`.
double calibrate(std::chrono::milliseconds duration);

/// What `calibrate` gives on the machine of the reference figures, quiet: its
/// figures are scaled with `calibration / reference_calibration`.
constexpr double reference_calibration = 22'500;

/// Calibrations further apart belong to different machines, or to one that was
/// not quiet.
constexpr double drift_percent_max = 5;

/// The calibrations around one run.
struct calibration_pair {
  double before = 0;
  double after = 0;

  double mean() const noexcept { return (before + after) / 2; }

  /// How far they are apart, in percent of the greater one.
  double drift_percent() const noexcept;

  bool drifted() const noexcept { return drift_percent() > drift_percent_max; }
};

} // namespace weir::bench
