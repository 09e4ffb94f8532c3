#include "bench/options.hpp"

#include <cstdlib>
#include <system_error>

namespace weir::bench {

using namespace std::chrono_literals;

std::filesystem::path default_dir() {
  if (const auto* cache = std::getenv("XDG_CACHE_HOME");
      cache != nullptr && *cache == '/')
    return std::filesystem::path{cache} / "weir-bench";
  if (const auto* home = std::getenv("HOME"); home != nullptr && *home == '/')
    return std::filesystem::path{home} / ".cache" / "weir-bench";
  std::error_code none; // If it fails: the working directory.
  return std::filesystem::temp_directory_path(none) / "weir-bench";
}

bench_sizes sizes_of(const bench_options& x) {
  bench_sizes out;
  out.live.seed = out.backfill.seed = out.first.seed = x.seed;
  if (x.quick) {
    out.live.accounts = out.backfill.accounts = 60;
    out.live.records = out.backfill.records = 6'000;
    out.live_events = 2'000;
    out.first.accounts = 30;
    out.first.records = 600;
    out.calibration = 100ms;
    out.slot = 5ms;
    out.slots = 5;
    out.patience = 30s;
    out.steady_span = 2s;
  } else {
    out.live.accounts = 2'000;
    out.live.records = 60'000;
    out.live_events = 60'000;
    // A mean of 470 records; the median is far lower (benchmarks.md, What is
    // measured).
    out.backfill.accounts = 2'000;
    out.backfill.records = 940'000;
    out.first.accounts = 300;
    out.first.records = 6'000;
    out.calibration = 500ms;
    out.slot = 50ms;
    out.slots = 11;
    out.patience = 120s;
    out.steady_span = 10s;
  }
  out.repeats = x.repeats != 0 ? x.repeats : x.quick ? 1 : 5;
  return out;
}

} // namespace weir::bench
