#pragma once

#include "actors/supervisor/limits.hpp"
#include "actors/support/completeness_census.hpp"
#include "base/clock.hpp"
#include "base/line_budget.hpp"
#include "base/log.hpp"
#include "base/metrics.hpp"
#include "messages/backfill.hpp"

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

/// The other figures of the SUPERVISOR at `/metrics`.
struct supervisor_metrics {
  metrics_registry& registry;
  metric& started
    = registry.counter("weir_backfill_started_total", "Fetches started");
  metric& too_slow = registry.counter(
    "weir_backfill_too_slow_total",
    "Slow fetches that were given up because other hosts waited");
  metric& unanswered = registry.counter(
    "weir_backfill_unanswered_total",
    "Fetches without an answer that were given up because other hosts waited");
  metric& given_back
    = registry.counter("weir_backfill_given_back_total",
                       "Fetches of hosts with more than their share that were "
                       "given up because other hosts waited");
  metric& queue = registry.gauge("weir_backfill_queue_depth",
                                 "Repos waiting for a fetch or in one");
  metric& listings
    = registry.counter("weir_listing_finished_total",
                       "Listings that were read to their end and compared");
  metric& listings_failed = registry.counter(
    "weir_listing_failed_total", "Pages of listings that could not be read");
  metric& confirmed = registry.counter(
    "weir_listing_confirmed_total",
    "Listed DIDs whose documents name the host that lists them");
  metric& claims_dropped = registry.counter(
    "weir_listing_claims_dropped_total",
    "Listed DIDs that were not checked and are left to the next listing");
  metric& mistrusted = registry.counter(
    "weir_listing_mistrusted_total",
    "Pages of listings most of whose DIDs have documents that disagree");
  metric& streams_mistrusted
    = registry.counter("weir_stream_mistrusted_total",
                       "Times that new DIDs of a stream were ignored for a "
                       "while because the documents of most disagreed");
  metric& questions
    = registry.gauge("weir_account_questions",
                     "Accounts about whose state their host is to be asked");
  metric& questions_refused
    = registry.counter("weir_account_questions_refused_total",
                       "Questions about accounts that found no room or no "
                       "answer and are asked again later");
  metric& compared = registry.counter(
    "weir_uncovered_compared_total",
    "Answers of hosts about repos that no upstream covers");
  metric& uncovered = registry.gauge(
    "weir_repos_uncovered",
    "Repos that no upstream covers, as the last scan of all repos counted "
    "them");
};

/// Counts how fetches end, and names in the log the fetches that brought
/// nothing: failed ones, and those of accounts that are away, which is no
/// failure. A long list of names that do not exist causes one such fetch for
/// each name and try; so after `limits::fetch_lines_max` of them a single log
/// line says where to find the others.
class fetch_ends {
public:
  explicit fetch_ends(metrics_registry& registry)
    : finished_(&registry.counter(name, help, "result", "ok")),
      failed_(&registry.counter(name, help, "result", "failed")),
      away_(&registry.counter(name, help, "result", "away")) {}

  void note(const job_ended& x, steady_time now) {
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

  /// The host of the repo could not be found, so that no fetch began.
  void note_no_host(const atproto::did& repo, const error& why,
                    steady_time now) {
    tell(no_fetch, repo, to_string(why), now);
  }

  /// The REPO ended before its fetch; the log reports that elsewhere.
  void note_lost() { failed_->add(); }

private:
  static constexpr auto name = "weir_backfill_finished_total";
  static constexpr auto help = "Fetches ended";
  static constexpr auto no_fetch = "backfill_failed";

  /// RepoNotFound does not count as away: the host may have lost the repo.
  static bool is_away(const error& x) {
    return x.code == ec::account_inactive && x.context != "RepoNotFound";
  }

  void tell(const char* event, const atproto::did& repo,
            const std::string& reason, steady_time now) {
    const auto verdict = lines_.take(now);
    if (verdict == line_budget::verdict::line)
      log::info(event, {{"did", repo.str()}, {"reason", reason}});
    else if (verdict == line_budget::verdict::last)
      log::info(
        "fetches_unnamed",
        {{"hint", "further fetches without a result are not named here: "
                  "GET /repos/errors has those that failed, and "
                  "weir_backfill_finished_total counts all of them"}});
  }

  metric* finished_;
  metric* failed_;
  metric* away_;
  line_budget lines_{limits::fetch_lines_max, limits::fetch_lines_interval};
};

} // namespace weir::actors
