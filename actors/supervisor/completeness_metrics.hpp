#pragma once

#include "actors/support/completeness_census.hpp"
#include "base/metrics.hpp"

#include <array>

namespace weir::actors {

/// What the last look at all rows counted, at `/metrics`.
class completeness_metrics {
public:
  explicit completeness_metrics(metrics_registry& registry)
    : active_(&registry.gauge(
      "weir_repos_active",
      "Repos of active accounts, as the last scan of all repos counted them")),
      incomplete_(&registry.gauge(
        "weir_repos_incomplete",
        "Repos of active accounts whose copy is not complete")) {
    for (size_t i = 0; i < without_.size(); ++i)
      without_[i] = &registry.gauge(
        "weir_repos_incomplete_by_term",
        "Repos whose copy is not complete, by the term that does not hold",
        "term", completeness::all_terms[i].name);
  }

  void set(const completeness_count& x) {
    active_->set(x.active);
    incomplete_->set(x.active - x.complete);
    for (size_t i = 0; i < without_.size(); ++i)
      without_[i]->set(x.without[i]);
  }

private:
  metric* active_;
  metric* incomplete_;
  std::array<metric*, completeness::all_terms.size()> without_{};
};

} // namespace weir::actors
