#pragma once

#include "base/metrics.hpp"
#include "messages/backfill.hpp"

namespace weir::actors {

/// Counts how fetches end, and names in the log those that brought nothing: the
/// ones that failed, and those of accounts that are away, which is no failure.
class fetch_ends {
public:
  explicit fetch_ends(metrics_registry& registry);

  void note(const job_ended& x);

  /// Its REPO ended before it did, which the log tells of elsewhere.
  void note_lost() { failed_->add(); }

private:
  metric* finished_;
  metric* failed_;
  metric* away_;
};

} // namespace weir::actors
