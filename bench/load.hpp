#pragma once

#include "base/error.hpp"
#include "bench/calibration.hpp"
#include "bench/corpus_cache.hpp"
#include "bench/options.hpp"
#include "bench/statistics.hpp"

#include <span>
#include <string>
#include <vector>

namespace weir::bench {

/// One repetition of a load.
struct load_run {
  calibration_pair calibration;
  double rate = 0;        ///< Units per second of wall time.
  double seconds = 0;     ///< The time on which the rate is based.
  double node_micros = 0; ///< CPU per unit of the node, with LevelDB's threads.
  double outside_micros = 0; ///< CPU per unit of network and application.
  double others_percent = 0; ///< Share of the machine that other work used.
  double delivered = 0; ///< Events acked per second; 0 without application.

  /// The rate divided by the calibration.
  double multiple() const noexcept { return rate / calibration.mean(); }
};

/// The rate that a load is compared with: measured on two cores of the
/// reference machine, then scaled by calibration and number of cores
/// (benchmarks.md, How to read it).
struct load_ceiling {
  double on_two_cores = 0; ///< 0 when unknown.
  double goal = 0;         ///< The rate to reach on two quiet cores.
};

struct load_result {
  std::string name;
  std::string unit; ///< What a rate counts, in the plural.
  load_ceiling ceiling;
  corpus_facts corpus;
  std::vector<load_run> runs; ///< At least one.

  /// The ceiling scaled to the speed of this machine during one run; 0 when
  /// unknown.
  double ceiling_here(const load_run& x) const;

  /// Median and spread of the rates.
  spread rates() const;
};

struct load_scene;

/// What is measured, and how.
struct load_kind {
  const char* name;
  const char* unit; ///< What a rate counts, in the plural.
  load_ceiling ceiling;
  simnet::population_options bench_sizes::*population;
  bool live; ///< The corpus has live events.
  result<load_run> (*run)(load_scene&, const std::filesystem::path& dir);
};

/// All kinds, in the order in which they run.
///
/// `live`: verified commits per second. Repos are fetched first. Then the live
/// events of the corpus come as fast as they are read, and an application acks
/// the resulting events. Time runs from the first durable commit to the last.
///
/// `steady`: CPU time of the node per verified commit when 200 a second come,
/// which a small service sees. The other measure of a commit, that of `live`,
/// is taken when the node is saturated and works in large batches.
///
/// `backfill`: backfilled records per second, from the start of the node until
/// every repo is synced and durable.
///
/// `first`: repos per second for a small network and a node with default
/// settings, which begins slowly with hosts that it does not know. Time runs
/// from its start until every repo is synced and durable.
std::span<const load_kind> load_kinds() noexcept;

result<load_result> measure_load(const load_kind& kind,
                                 const bench_options& options,
                                 const bench_sizes& sizes);

} // namespace weir::bench
