#include "actors/repo/repo.hpp"

namespace weir::actors {

repo_metrics::repo_metrics(metrics_registry& registry) {
  for (size_t i = 0; i <= static_cast<size_t>(repo_counter::last_); ++i)
    events.push_back(&registry.counter(
      "weir_repo_events_total", "Events of streams, by what became of them",
      "result", to_string(static_cast<repo_counter>(i))));
  waiting
    = &registry.gauge("weir_repo_waiting_frames", "Frames that wait in REPOs");
}

} // namespace weir::actors
