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
  questions_held_.set(questions_.bytes() + absences_.bytes());
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
      absences_.on_told(x.repo, x.pds);
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

/// A listing begins with its first page.
void supervisor::count_page(const listing_machine::request& x) {
  if (!x.what.collection.empty() || !x.cursor.empty())
    return;
  censuses_[x.what.upstream]
    = {std::make_shared<listing_census>(env_.census_entries, ++turn_),
       wall().seconds()};
  origins_.on_begin(x.what.upstream);
}

void supervisor::count_lines(const listing_page& x) {
  const auto census = censuses_.find(x.upstream);
  if (!x.collection.empty() || census == censuses_.end())
    return;
  for (const auto& line : *x.repos)
    census->second.named->add(atproto::stable_hash(line.repo.str()));
}

/// The listing named all repos that there are: repos of its upstream that it
/// did not name may be gone.
void supervisor::find_left_out(const listing_id& what) {
  if (!what.collection.empty())
    return;
  auto census = censuses_.extract(what.upstream);
  if (census.empty())
    return;
  census.mapped().named->close();
  listing_all_.insert(what.upstream);
  scans_.add({what.upstream, host_of(what.upstream), census.mapped().since,
              census.mapped().named, listing_all_, {}});
  scan_left_out();
}

/// Reads one page of rows at a time, for upstreams whose questions have room.
void supervisor::scan_left_out() {
  const auto next = scans_.next([this](const std::string& pds) {
    return pds.empty() || questions_.has_room(pds);
  });
  if (!next)
    return;
  auto job = [to = supervisor_actor{this}, shared = env_.shared, scan = *next,
              now = wall()](store_readers&) {
    left_out_page out;
    out.upstream = scan.upstream;
    const auto page = shared->stores.page(scan.after);
    if (!page) {
      out.repos = page.error();
      caf::anon_send(to, std::move(out));
      return;
    }
    for (const auto& [repo, row] : *page)
      if (left_out_scans::is_left_out(scan, repo, row, shared->upstreams, now))
        out.repos->push_back(
          {repo, row.pds, left_out_scans::to_prove(row, shared->upstreams),
           row.left_out_by == scan.upstream});
    out.end = page->size() < limits::repos_page_max;
    if (!page->empty())
      out.next = page->back().first;
    caf::anon_send(to, std::move(out));
  };
  send(env_.shared->root().reader_of(next->upstream),
       reader_job{std::move(job)});
}

/// After a loss the listing would have proved it: its host is asked to, as
/// after a look at all rows, even if it answered a moment before the loss.
question_machine::question
supervisor::about_left_out(const left_out_page::repo& x) {
  question_machine::question out{x.id, x.pds};
  out.left_out = true;
  out.noted = x.noted;
  out.prove = x.noted.defined();
  out.prove = out.prove && questions_.is_new(out, now())
              && mends_.may_ask(x.pds, now());
  return out;
}

void supervisor::on_left_out(const left_out_page& x) {
  if (!x.repos) {
    log::warn("left_out_unread", {{"upstream", url_of(x.upstream)},
                                  {"reason", to_string(x.repos.error())}});
    scans_.on_page(x.next, true);
    return scan_left_out();
  }
  const auto relay = env_.shared->upstreams.find(x.upstream).relay;
  for (const auto& repo : *x.repos) {
    const auto question = about_left_out(repo);
    const auto is_news
      = !relay || absences_.on_left_out(x.upstream, repo.id, repo.pds, now());
    left_out_ |= !is_news;
    if (!is_news && !repo.is_known)
      send(router_of(repo.id), repo_incomplete{repo.id, false, x.upstream});
    if (!is_news && !question.prove)
      continue;
    auto out = questions_.on_question(question, now());
    if (is_refused(out, repo.id))
      scans_.on_shortage(repo.id);
    perform(std::move(out));
  }
  scans_.on_page(x.next, x.end);
  scan_left_out();
}
// -- whom no upstream covers --------------------------------------------------

/// One page of rows at a time, while there is room for questions, and for the
/// fetches that may follow.
void supervisor::scan_uncovered() {
  const auto& shared = *env_.shared;
  if (shared.intake.backfills() && questions_.has_half()) {
    // A host that is not followed is covered only by a relay.
    const auto relayed
      = shared.upstreams.accounting_for({}).id != 0 && !left_out_;
    if (const auto at = laps_.next(now(), shared.random->next(), relayed))
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
    const auto is_old = known
                        && (!known->row
                            || !is_news(x, *known, store,
                                        shared->time->wall_now()));
    if (!is_old && !shared->routers().empty())
      caf::anon_send(shared->router_of(x.repo), x);
  };
  send(env_.shared->home_of(x.repo).reader_of(x.repo),
       reader_job{std::move(job)});
}

} // namespace weir::actors
