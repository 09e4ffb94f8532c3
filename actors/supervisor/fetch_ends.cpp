#include "actors/supervisor/fetch_ends.hpp"

#include "base/log.hpp"

namespace weir::actors {

namespace {

constexpr auto name = "weir_backfill_finished_total";
constexpr auto help = "Fetches ended";

/// A host that knows no such repo may have lost it.
bool is_away(const error& x) {
  return x.code == ec::account_inactive && x.context != "RepoNotFound";
}

} // namespace

fetch_ends::fetch_ends(metrics_registry& registry)
  : finished_(&registry.counter(name, help, "result", "ok")),
    failed_(&registry.counter(name, help, "result", "failed")),
    away_(&registry.counter(name, help, "result", "away")) {
  // nop
}

void fetch_ends::note(const job_ended& x) {
  if (x.outcome.code == ec::none) {
    finished_->add();
    return;
  }
  const auto away = is_away(x.outcome);
  (away ? away_ : failed_)->add();
  log::info(away ? "account_away" : "backfill_failed",
            {{"did", x.repo.str()},
             {"reason", away ? x.outcome.context : to_string(x.outcome)}});
}

} // namespace weir::actors
