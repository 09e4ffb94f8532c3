#include "bench/micro.hpp"

#include "bench/machine.hpp"
#include "bench/micro_stages.hpp"

#include <iostream>

namespace weir::bench {

namespace {

/// More than fits into the nearest cache, as in a real stream.
constexpr size_t commits_max = 2'000;

} // namespace

micro_result measure(const stage& x, const bench_sizes& sizes) {
  const auto cpu = x.whole_process ? process_cpu_seconds : thread_cpu_seconds;
  const auto slot = std::chrono::duration<double>{sizes.slot}.count();
  micro_result out{x.name, x.what, {}, x.reference_nanos, {}};
  out.calibration.before = calibrate(sizes.calibration);
  std::vector<double> nanos;
  for (size_t i = 0; i <= sizes.slots; ++i) {
    const auto start = cpu();
    size_t operations = 0;
    double used = 0;
    while (used < slot) {
      operations += x.run();
      used = cpu() - start;
    }
    if (i > 0)
      nanos.push_back(1e9 * used / static_cast<double>(operations));
  }
  out.calibration.after = calibrate(sizes.calibration);
  out.nanos = spread_of(std::move(nanos));
  return out;
}

result<std::vector<micro_result>> measure_micro(const bench_options& options,
                                                const bench_sizes& sizes) {
  const auto corpus = find_corpus(options.dir, sizes.live, sizes.live_events);
  if (!corpus)
    return corpus.error();
  const auto input = micro_input::load(*corpus, commits_max);
  if (!input)
    return input.error();
  auto stages = make_protocol_stages(*input);
  auto store = make_store_stage(*input, options.dir);
  if (!store)
    return store.error();
  stages.push_back(std::move(*store));
  std::vector<micro_result> out;
  for (const auto& x : stages) {
    std::cerr << "weir-bench: " << x.name << "\n";
    out.push_back(measure(x, sizes));
  }
  return out;
}

} // namespace weir::bench
