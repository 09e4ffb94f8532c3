#pragma once

#include "base/error.hpp"
#include "bench/calibration.hpp"
#include "bench/corpus_cache.hpp"
#include "bench/options.hpp"
#include "bench/statistics.hpp"

#include <string>
#include <vector>

namespace weir::bench {

/// One repetition of a load.
struct load_run {
  calibration_pair calibration;
  double rate = 0;        ///< Units a second of wall time.
  double seconds = 0;     ///< What the rate is of.
  double node_micros = 0; ///< CPU of the node a unit, its LevelDB's included.
  double outside_micros = 0; ///< CPU of network and application a unit.
  double others_percent = 0; ///< Of the machine, used by others meanwhile.
  double delivered = 0;      ///< Events acked a second; 0 without application.

  /// The rate as a multiple of the calibration.
  double multiple() const noexcept { return rate / calibration.mean(); }
};

/// What a load is measured against (benchmarks.md, How to read it): two cores
/// of the reference machine. Scaled by calibration and cores.
struct load_ceiling {
  double on_two_cores = 0; ///< 0: none is known.
  double goal = 0; ///< Accepted from here on, on two quiet cores.
};

struct load_result {
  std::string name;
  std::string unit; ///< What a rate counts, in the plural.
  load_ceiling ceiling;
  corpus_facts corpus;
  std::vector<load_run> runs; ///< At least one.

  /// The ceiling on this machine, by the speed it had in one run; 0: none.
  double ceiling_here(const load_run& x) const;

  /// Of the rates.
  spread rates() const;
};

/// Verified commits a second: repos are fetched first, then the corpus's live
/// events flow as fast as they are taken, an application acks what comes out.
/// From the first durable commit to the last.
result<load_result> measure_live(const bench_options& options,
                                 const bench_sizes& sizes);

/// Backfilled records a second: from the start of the node until every repo is
/// synced and durable.
result<load_result> measure_backfill(const bench_options& options,
                                     const bench_sizes& sizes);

/// Repos a second of a small network by a node with its defaults, which starts
/// slowly where it does not know how much others bear: from its start until
/// every repo is synced and durable.
result<load_result> measure_first(const bench_options& options,
                                  const bench_sizes& sizes);

} // namespace weir::bench
