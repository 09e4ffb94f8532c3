#include "tests/sim/heap_bounds.hpp"

#include "actors/node/memory_plan.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace weir::sim {

namespace {

using namespace std::chrono_literals;

/// The hours until temporary state has expired, and then those in which memory
/// must not grow.
constexpr auto first_silence = 13h;
constexpr auto second_silence = 12h;

/// Number of measurements of each, of which the smallest counts, because
/// temporary memory is not growth.
constexpr size_t looks = 8;
constexpr auto between_looks = 7min;

/// Bytes that one kind of actor may have in addition afterwards.
constexpr int64_t growth_max = 32'768;

/// Bytes that all actors of a kind may have at once, in worlds of some hundred
/// accounts. No kind had more in 50,000 runs, so anything that grows with its
/// input is detected long before `memory_limit`.
struct kind_bound {
  std::string_view kind;
  int64_t bytes;
};

constexpr int64_t kib = 1'024;
constexpr int64_t mib = 1'024 * kib;

constexpr std::array kind_bounds{
  kind_bound{"api", 32 * kib},         kind_bound{"backfill", 64 * mib},
  kind_bound{"backup", 16 * kib},      kind_bound{"consumer", 1 * mib},
  kind_bound{"health", 32 * kib},
  kind_bound{"identity", 4 * mib},     kind_bound{"journal", 16 * mib},
  kind_bound{"loops", 12 * mib},       kind_bound{"node", 32 * kib},
  kind_bound{"progress", 16 * kib},    kind_bound{"reader", 6 * mib},
  kind_bound{"repo", 4 * mib},         kind_bound{"room", 16 * kib},
  kind_bound{"router", 6 * mib},       kind_bound{"start", 32 * mib},
  kind_bound{"supervisor", 1 * mib},   kind_bound{"sweeper", 2 * mib},
  kind_bound{"threads", 3 * mib},      kind_bound{"timers", 16 * kib},
  kind_bound{"upstream", 2 * mib}};

/// LevelDB's own thread keeps data about tables on the disk, and some more
/// after each compaction.
constexpr int64_t tables_growth_max = 1 * mib;

/// JOURNAL's memory includes LevelDB's tables that are not on disk yet: two, of
/// a size that the plan gives.
int64_t memtables(const actors::node_config& config) {
  return 2 * static_cast<int64_t>(actors::plan_memory(config).write_buffer);
}

std::string check_kind(const std::string& name, int64_t bytes,
                       const actors::node_config& config) {
  const auto bound = std::find_if(
    kind_bounds.begin(), kind_bounds.end(),
    [&name](const kind_bound& x) { return x.kind == name; });
  if (bound == kind_bounds.end())
    return name + " has no bound in tests/sim/heap_bounds.cpp";
  const auto most = bound->bytes + (name == "journal" ? memtables(config) : 0);
  if (bytes <= most)
    return {};
  return name + " had " + std::to_string(bytes) + " bytes, more than "
         + std::to_string(most);
}

int64_t growth_of(const std::string& name, const actors::node_config& config) {
  if (name == "threads")
    return tables_growth_max;
  return growth_max + (name == "journal" ? memtables(config) : 0);
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
  for (const auto& [name, bytes] : found)
    if (auto how = check_kind(name, bytes, config); !how.empty())
      return how;
  // The peaks were not at one time, so the sum is above the real maximum.
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
