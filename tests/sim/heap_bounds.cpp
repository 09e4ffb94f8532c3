#include "tests/sim/heap_bounds.hpp"

#include "actors/node/memory_plan.hpp"

#include <algorithm>

namespace weir::sim {

namespace {

using namespace std::chrono_literals;

/// Hours until what is remembered for some time is forgotten, and then those in
/// which nothing may grow.
constexpr auto first_silence = 13h;
constexpr auto second_silence = 12h;

/// Each is looked at so often, and the least of it counts: what is under way
/// for a moment is no growth.
constexpr size_t looks = 8;
constexpr auto between_looks = 7min;

/// What one kind of actor may have more afterwards.
constexpr int64_t growth_max = 32'768;

/// The JOURNAL's includes tables of LevelDB that are not on disk yet; there are
/// two, of a size that the plan names.
int64_t growth_of(const std::string& name, const actors::node_config& config) {
  if (name != "journal")
    return growth_max;
  return growth_max
         + 2 * static_cast<int64_t>(actors::plan_memory(config).write_buffer);
}

heap::census least(const heap_watch& heap, const let_pass& run_for) {
  auto out = heap.live();
  for (size_t i = 0; i < looks; ++i) {
    run_for(between_looks);
    for (const auto& [name, bytes] : heap.live())
      out[name] = out.contains(name) ? std::min(out[name], bytes) : bytes;
  }
  return out;
}

} // namespace

heap_watch::heap_watch() : before_(heap::live()) {
  heap::forget_peaks();
}

heap::census heap_watch::live() const {
  return heap::difference(heap::live(), before_);
}

heap::census heap_watch::peaks() const {
  return heap::difference(heap::peaks(), before_);
}

std::string
heap_watch::check_bounds(const actors::node_config& config) const {
  if (!heap::is_counted())
    return {};
  const auto found = peaks();
  // Not all of them were at one time, so that this is more than there was.
  if (heap::sum(found) > static_cast<int64_t>(config.memory_limit))
    return std::to_string(heap::sum(found)) + " bytes, and memory_limit is "
           + std::to_string(config.memory_limit) + ": "
           + heap::describe(found);
  return {};
}

std::string check_silence(const heap_watch& heap,
                          const actors::node_config& config,
                          const let_pass& run_for) {
  if (!heap::is_counted())
    return {};
  run_for(first_silence);
  const auto earlier = least(heap, run_for);
  run_for(second_silence);
  const auto grown = heap::difference(least(heap, run_for), earlier);
  for (const auto& [name, bytes] : grown)
    if (bytes > growth_of(name, config))
      return name + " has " + std::to_string(bytes)
             + " bytes more after hours of silence: "
             + heap::describe(grown);
  return {};
}

} // namespace weir::sim
