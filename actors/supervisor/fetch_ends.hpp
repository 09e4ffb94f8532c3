#pragma once

#include "actors/supervisor/limits.hpp"
#include "base/clock.hpp"
#include "base/line_budget.hpp"
#include "base/metrics.hpp"
#include "messages/backfill.hpp"

namespace weir::actors {

/// Counts how fetches end, and names in the log the fetches that brought
/// nothing: failed ones, and those of accounts that are away, which is no
/// failure. A long list of names that do not exist causes one such fetch for
/// each name and try; so after `limits::fetch_lines_max` of them a single log
/// line says where to find the others.
class fetch_ends {
public:
  explicit fetch_ends(metrics_registry& registry);

  void note(const job_ended& x, steady_time now);

  /// The host of the repo could not be found, so that no fetch began.
  void note_no_host(const atproto::did& repo, const error& why,
                    steady_time now);

  /// The REPO ended before its fetch; the log reports that elsewhere.
  void note_lost() { failed_->add(); }

private:
  void tell(const char* event, const atproto::did& repo,
            const std::string& reason, steady_time now);

  metric* finished_;
  metric* failed_;
  metric* away_;
  line_budget lines_{limits::fetch_lines_max, limits::fetch_lines_interval};
};

} // namespace weir::actors
