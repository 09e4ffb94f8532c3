#include "actors/supervisor/listed_line.hpp"
#include "actors/supervisor/supervisor_impl.hpp"

#include "actors/support/account_sources.hpp"
#include "base/log.hpp"
#include "storage/format/limits.hpp"

#include <algorithm>

/// The status of accounts at their hosts: which hosts are asked, which repos a
/// listing left out (protocol-coverage.md 4.5, 9), and which no upstream covers.
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

/// @returns whether there was no room for the question about this repo.
bool is_refused(const question_machine::effects& x, const atproto::did& repo) {
  return std::ranges::any_of(
    x.refused, [&](const auto& y) { return y.repo == repo; });
}

} // namespace

void supervisor::perform(question_machine::effects x) {
  for (const auto& each : x.ask)
    env_.ask(each.repo, each.pds, supervisor_actor{this});
  for (const auto& each : x.compared)
    compare(each);
  for (auto& each : x.told)
    send(router_of(each.repo), std::move(each));
  for (const auto& repo : x.unproved)
    send(router_of(repo), repo_incomplete{repo, true});
  metrics_.questions_refused.add(x.refused.size());
  for (const auto& each : x.refused)
    if (!each.left_out && !each.compared)
      send(router_of(each.repo),
           account_unasked{each.repo, each.not_found, each.urgent});
  arm(x.timer);
  metrics_.questions.set(questions_.open());
  questions_held_.set(questions_.bytes() + left_out_.bytes());
  scan_left_out();
  scan_uncovered();
}

/// Asks once about the repos that were lost in an earlier run of the node: the
/// first scan of all rows finds them.
void supervisor::ask_lost(const scan_page& x) {
  if (lost_asked_)
    return;
  for (const auto& each : x.lost) {
    question_machine::question lost{each.repo, each.pds, true};
    // Without a place, the next fetch or listing shows the status.
    lost.left_out = true;
    // A time ahead was written by another clock, so its age is not known.
    lost.age
      = std::chrono::seconds{std::max<int64_t>(wall().seconds() - each.at, 0)};
    perform(questions_.on_question(lost, now()));
  }
  lost_asked_ = x.end;
}

void supervisor::on_answer(const account_answer& x) {
  using kind = account_answer::kind;
  switch (x.what) {
    case kind::told:
      left_out_.on_told(x.repo, x.pds);
      perform(questions_.on_told(x.repo, x.pds, x.account, now(), x.rev));
      return;
    case kind::not_found:
      perform(questions_.on_not_found(x.repo, x.pds, now()));
      return;
    case kind::failed:
      perform(questions_.on_failed(x.repo, x.pds, x.retry_after, now()));
      return;
    case kind::useless:
      perform(questions_.on_useless(x.repo, x.pds, now()));
      return;
  }
}

// -- whom a listing leaves out ------------------------------------------------

/// Reads one page of rows at a time, for upstreams whose questions have room.
void supervisor::scan_left_out() {
  const auto next = left_out_.next();
  if (!next)
    return;
  auto job = [to = supervisor_actor{this}, shared = env_.shared, scan = *next,
              now = wall()](store_readers&) {
    const auto rows = shared->stores.page(scan.after);
    left_out_page out;
    if (rows) {
      out = left_out_machine::pick(scan, *rows, shared->upstreams, now);
    } else {
      out.upstream = scan.upstream;
      out.repos = rows.error();
    }
    caf::anon_send(to, std::move(out));
  };
  send(env_.shared->root().reader_of(next->upstream),
       reader_job{std::move(job)});
}

void supervisor::on_left_out(const left_out_page& x) {
  if (!x.repos) {
    log::warn("left_out_unread", {{"upstream", url_of(x.upstream)},
                                  {"reason", to_string(x.repos.error())}});
    left_out_.on_page(x.next, true);
    return scan_left_out();
  }
  const auto relay = env_.shared->upstreams.find(x.upstream).relay;
  for (const auto& repo : *x.repos) {
    const auto verdict = left_out_.on_left_out(x.upstream, relay, repo, now());
    if (verdict.note)
      send(router_of(repo.id), repo_incomplete{repo.id, false, x.upstream});
    if (!verdict.ask)
      continue;
    auto out = questions_.on_question(*verdict.ask, now());
    if (is_refused(out, repo.id))
      left_out_.on_shortage(repo.id);
    perform(std::move(out));
  }
  left_out_.on_page(x.next, x.end);
  scan_left_out();
}

// -- whom no upstream covers --------------------------------------------------

/// One page of rows at a time, while there is room for questions, and for the
/// fetches that may follow.
void supervisor::scan_uncovered() {
  const auto& shared = *env_.shared;
  if (shared.intake.backfills() && questions_.has_half()) {
    if (const auto at = laps_.next(now(), shared.random->next(),
                                   left_out_.all_covered(shared.upstreams)))
      read([to = supervisor_actor{this}, shared = env_.shared,
            at = *at](store_readers&) {
        caf::anon_send(
          to, read_uncovered(shared->stores, shared->upstreams, at));
      });
  }
  if (laps_.found()) {
    metrics_.uncovered.set(*laps_.found());
    env_.shared->uncovered = static_cast<int64_t>(*laps_.found());
  }
  if (const auto due = laps_.due(); due && *due > now())
    arm(due);
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
    if (is_refused(out, each.id))
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
  metrics_.compared.add();
  auto job = [shared = env_.shared, x](store_readers& store) {
    const auto known = store.load_repo(x.repo);
    const auto is_news = [&](const storage::repo_row& row) {
      return is_news_of_host(x.pds, x.account, x.rev, row, known->chain.get())
             || (denies_tombstone(x, row)
                 && is_due_again(store.load_identity(x.repo),
                                 shared->time->wall_now()));
    };
    if ((!known || (known->row && is_news(*known->row)))
        && !shared->routers().empty())
      caf::anon_send(shared->router_of(x.repo), x);
  };
  send(env_.shared->home_of(x.repo).reader_of(x.repo),
       reader_job{std::move(job)});
}

} // namespace weir::actors
