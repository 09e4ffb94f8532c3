#include "actors/supervisor/listed_line.hpp"
#include "actors/supervisor/supervisor_impl.hpp"

#include "actors/support/account_sources.hpp"
#include "base/log.hpp"

#include <algorithm>

/// Repos that no upstream covers: their hosts are asked now and then.
namespace weir::actors {

namespace {

result<uncovered_page> read_uncovered(const all_stores& stores,
                                      const upstream_board& followed,
                                      const uncovered_laps::page& at) {
  uncovered_page out;
  const auto page = stores.page(at.after);
  if (!page)
    return page.error();
  pick_uncovered(*page, followed, at, out);
  return out;
}

/// Whether a REPO needs to receive a host's answer. That the host has an
/// account with a tombstone in the directory is news once a day.
bool is_news(const account_told& x,
             const store_readers::repo_rows& known, const store_readers& store,
             wall_time now) {
  const auto& row = *known.row;
  if (is_news_of_host(x.pds, x.account, x.rev, row, known.chain.get()))
    return true;
  if (row.pds != x.pds
      || !account_sources::denies_tombstone(row.words, x.account, false, true))
    return false;
  const auto identity = store.load_identity(x.repo);
  return !identity || !*identity || is_due_again(**identity, now);
}

} // namespace

/// One page of rows at a time, while there is room for questions, and for the
/// fetches that may follow.
void supervisor::scan_uncovered() {
  const auto& shared = *env_.shared;
  if (shared.intake.backfills() && questions_.has_half()) {
    // A host that is not followed is covered only by a relay.
    const auto relayed
      = shared.upstreams.accounting_for({}).id != 0 && !left_out_;
    if (const auto at = laps_.next(now(), shared.random->next(), relayed)) {
      reader_job job;
      job.run = [to = supervisor_actor{this}, shared = env_.shared,
                 at = *at](store_readers&) {
        caf::anon_send(
          to, read_uncovered(shared->stores, shared->upstreams, at));
      };
      send(shared.root().reader_of(0), std::move(job));
    }
  }
  if (laps_.found()) {
    uncovered_->set(*laps_.found());
    env_.shared->uncovered = static_cast<int64_t>(*laps_.found());
  }
  if (const auto due = laps_.due(); due && *due > now())
    timer_.arm(this, now(), *due);
}

void supervisor::on_uncovered(const result<uncovered_page>& x) {
  if (!x) {
    log::warn("uncovered_unread", {{"reason", to_string(x.error())}});
    laps_.on_failure();
    scan_uncovered();
    return;
  }
  bool asked = false;
  for (const auto& each : x->repos) {
    if (!laps_.take(each.id, each.row))
      continue;
    question_machine::question question{each.id, each.row.pds};
    question.compared = true;
    auto out = questions_.on_question(question, now());
    if (std::any_of(out.refused.begin(), out.refused.end(),
                    [&](const auto& y) { return y.repo == each.id; }))
      laps_.on_shortage();
    asked = true;
    perform(std::move(out));
  }
  laps_.on_page(x->last, x->end, asked, now());
  scan_uncovered();
}

/// READER drops the answers that agree with the store as well, so that quiet
/// REPOs are not woken.
void supervisor::compare(const account_told& x) {
  compared_->add();
  reader_job job;
  job.run = [shared = env_.shared, x](store_readers& store) {
    const auto known = store.load_repo(x.repo);
    const auto is_old = known
                        && (!known->row
                            || !is_news(x, *known, store,
                                        shared->time->wall_now()));
    if (!is_old && !shared->routers().empty())
      caf::anon_send(shared->router_of(x.repo), x);
  };
  send(env_.shared->home_of(x.repo).reader_of(x.repo), std::move(job));
}

} // namespace weir::actors
