#include "actors/supervisor/fetch_ends.hpp"

#include "base/log.hpp"

namespace weir::actors {

namespace {

constexpr auto name = "weir_backfill_finished_total";
constexpr auto help = "Fetches ended";
constexpr auto no_fetch = "backfill_failed";

/// RepoNotFound does not count as away: the host may have lost the repo.
bool is_away(const error& x) {
  return x.code == ec::account_inactive && x.context != "RepoNotFound";
}

} // namespace

fetch_ends::fetch_ends(metrics_registry& registry)
  : finished_(&registry.counter(name, help, "result", "ok")),
    failed_(&registry.counter(name, help, "result", "failed")),
    away_(&registry.counter(name, help, "result", "away")) {}

void fetch_ends::note(const job_ended& x, steady_time now) {
  if (x.outcome) {
    finished_->add();
  } else if (const auto& why = x.outcome.error(); is_away(why)) {
    away_->add();
    tell("account_away", x.repo, why.context, now);
  } else {
    failed_->add();
    tell(no_fetch, x.repo, to_string(why), now);
  }
}

void fetch_ends::note_no_host(const atproto::did& repo, const error& why,
                              steady_time now) {
  tell(no_fetch, repo, to_string(why), now);
}

void fetch_ends::tell(const char* event, const atproto::did& repo,
                      const std::string& reason, steady_time now) {
  const auto verdict = lines_.take(now);
  if (verdict == line_budget::verdict::line)
    log::info(event, {{"did", repo.str()}, {"reason", reason}});
  else if (verdict == line_budget::verdict::last)
    log::info("fetches_unnamed",
              {{"hint", "further fetches without a result are not named here: "
                        "GET /repos/errors has those that failed, and "
                        "weir_backfill_finished_total counts all of them"}});
}

} // namespace weir::actors
