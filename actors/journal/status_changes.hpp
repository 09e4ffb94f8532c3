#pragma once

#include "base/metrics.hpp"
#include "storage/format/records.hpp"

#include <array>
#include <optional>
#include <string>

namespace weir::actors {

/// Counts the written changes of repos from one status to another (SYNC-02 to
/// SYNC-08): `weir_repo_status_changes_total{change="synced to desync"}`.
class status_changes {
public:
  explicit status_changes(metrics_registry& registry) : registry_(registry) {}

  /// @param before None: the repo is new.
  /// @param after None: the repo was removed.
  void note(std::optional<storage::repo_status> before,
            std::optional<storage::repo_status> after) {
    if (before == after)
      return;
    auto*& counter = counters_[index(before)][index(after)];
    if (counter == nullptr)
      counter = &registry_.counter(
        "weir_repo_status_changes_total",
        "Changes of the status of repos, by the status before and after",
        "change", name(before, "new") + " to " + name(after, "gone"));
    counter->add();
  }

private:
  static constexpr size_t statuses = 6; ///< 0 is none.

  static size_t index(std::optional<storage::repo_status> x) noexcept {
    return x ? static_cast<size_t>(*x) : 0;
  }

  static std::string name(std::optional<storage::repo_status> x,
                          const char* none) {
    return std::string{x ? storage::to_string(*x) : none};
  }

  metrics_registry& registry_;
  std::array<std::array<metric*, statuses>, statuses> counters_{};
};

} // namespace weir::actors
