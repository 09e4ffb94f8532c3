#include "actors/supervisor/limits_accounts.hpp"
#include "actors/supervisor/supervisor_impl.hpp"
#include "storage/format/limits.hpp"

#include "actors/support/node_sums.hpp"
#include "base/log.hpp"

#include <set>
#include <string_view>
#include <unordered_map>

/// Counts the complete repos: goes through all rows, a page at a time.
namespace weir::actors {

namespace {

/// Reads a chain only where the row alone does not decide.
result<completeness::terms> judge(const store_readers& store,
                                  const atproto::did& repo,
                                  const storage::repo_row& row,
                                  const upstream_view& upstream,
                                  uint32_t filter) {
  if (row.last_indexed_rev >= row.first_rev || !row.first_rev.defined())
    return completeness::explain(row, nullptr, upstream, filter);
  const auto known = store.load_repo(repo);
  if (!known)
    return known.error();
  return completeness::explain(row, known->chain.get(), upstream, filter);
}

/// This part of a page may be woken because a look-up is due.
constexpr size_t due_part = 4;

/// What a look needs to know besides the rows.
struct look {
  context_ptr shared;
  uint32_t filter = 0;
  std::set<uint32_t> listed; ///< Upstreams whose listings were compared.
  /// Only this look uses it while the look lasts.
  std::shared_ptr<completeness_census> census;
};

/// Repos that are not in sync are fetched anyway. These repos are in sync, so
/// nothing else would notice them.
void find_work(const atproto::did& repo, const storage::repo_row& row,
               const completeness::terms& x, const upstream_view& upstream,
               const look& by, completeness_page& out) {
  // The scan of work fetches repos that were fetched under another filter.
  if (x.complete() || !x.synced || !x.filter_current)
    return;
  const auto sees_itself
    = !x.no_gap || !row.last_indexed_rev.defined()
      || (x.first_rev_set && !x.indexed_past_first_rev);
  if (sees_itself)
    out.repos.push_back({repo, row.pds, false, {}});
  else if (!(x.position_current && x.first_rev_set) && upstream.live
           && by.listed.contains(upstream.id))
    out.repos.push_back({repo, row.pds, true, upstream.since_reset()});
}

/// A repo that cannot be read counts as incomplete; the others are counted as
/// usual.
void take_row(const atproto::did& repo, const storage::repo_row& row,
              const upstream_view& upstream, const look& by,
              completeness_page& out) {
  const auto terms
    = judge(by.shared->stores.of(repo), repo, row, upstream, by.filter);
  if (!terms) {
    out.unread.push_back({repo, terms.error()});
    by.census->add(repo, row,
                   completeness::explain(row, nullptr, upstream, by.filter));
    return;
  }
  by.census->add(repo, row, *terms);
  find_work(repo, row, *terms, upstream, by, out);
}

result<completeness_page> read_page(const look& by,
                                    const atproto::did& after) {
  completeness_page out;
  const auto& shared = *by.shared;
  const auto page = shared.stores.page(after);
  if (!page)
    return page.error();
  const auto now = shared.time->steady_now();
  std::unordered_map<std::string_view, upstream_view> by_host;
  for (const auto& [repo, row] : *page) {
    // It may have been closed before it was done; other repos have their share.
    if (row.identity_due && !(row.gap && completeness::counts(row))
        && out.repos.size() < limits::completeness_wakes_max / due_part)
      out.repos.push_back({repo, row.pds, false, {}});
    if (!completeness::counts(row))
      continue;
    auto known = by_host.find(row.pds);
    if (known == by_host.end())
      known = by_host
                .emplace(row.pds, completeness::accounting(shared.upstreams,
                                                           row.pds, now,
                                                           shared.time
                                                             ->wall_now()))
                .first;
    take_row(repo, row, known->second, by, out);
  }
  if (!page->empty())
    out.last = page->back().first;
  out.end = page->size() < limits::repos_page_max;
  return out;
}

} // namespace

/// Reads one page at a time; meanwhile only its READER uses the census.
void supervisor::count_complete() {
  if (const auto after = complete_laps_.next(now())) {
    if (after->empty()) {
      census_ = std::make_shared<completeness_census>();
      mends_.on_begin();
      hints_.on_look(env_.shared->upstreams.all());
    }
    look by{env_.shared, env_.filter_generation, {}, census_};
    for (const auto& x : env_.shared->upstreams.all())
      if (listing_.is_compared({x.id, {}}, x.epoch))
        by.listed.insert(x.id);
    read([to = supervisor_actor{this}, by = std::move(by),
          after = *after](store_readers&) {
      caf::anon_send(to, read_page(by, after));
    });
  }
  if (const auto due = complete_laps_.due(); due && *due > now())
    arm(due);
}

/// CONS-27 to CONS-29. @returns whether a host was asked.
bool supervisor::mend(const completeness_page& x) {
  bool asked = false;
  for (const auto& each : x.repos) {
    if (!each.prove) {
      if (mends_.may_wake(each.id, now()))
        send(router_of(each.id), repo_incomplete{each.id});
      continue;
    }
    question_machine::question question{each.id, each.pds};
    question.left_out = true; // Without a place, a later look asks.
    question.noted = each.noted;
    question.prove = true;
    if (mends_.has_turn(each.id, each.pds, now()) && questions_.has_half()
        && questions_.is_new(question, now())
        && mends_.may_ask(each.pds, now())) {
      asked = true;
      perform(questions_.on_question(question, now()));
    }
  }
  return asked;
}

void supervisor::hint(const completeness_census& x) {
  for (const auto& origin : hints_.pds_relays(env_.shared->upstreams.all(), x))
    log::warn("relay_is_pds",
              {{"upstream", origin},
               {"hint", "it is the PDS of accounts in its stream, not a relay: "
                        "name it in upstream as pds:"
                          + origin + " instead of relay:" + origin}});
  if (hints_.finds_nobody(x))
    log::warn("signal_finds_nobody",
              {{"hint", "no account has records of signal_collection: is it "
                        "the name of a collection that exists? An account that "
                        "writes one is tracked from then on"}});
  if (env_.keeps_some && hints_.keeps_nothing(x, record_count(*env_.shared)))
    log::warn("collections_keep_nothing",
              {{"repos", x.all().active},
               {"hint", "none of these repos has a record in one of the "
                        "configured collections, so nothing of them is stored: "
                        "are those the names of collections that exist?"}});
}

void supervisor::on_counted(const result<completeness_page>& x) {
  if (!x) {
    log::warn("completeness_unread", {{"reason", to_string(x.error())}});
    complete_laps_.on_failure(now());
    count_complete();
    return;
  }
  for (const auto& each : x->unread)
    log::warn("completeness_unread", {{"repo", each.id.str()},
                                      {"reason", to_string(each.why)}});
  const auto asked = mend(*x);
  if (!x->end) {
    complete_laps_.on_page(x->last, now(),
                           asked ? limits::uncovered_page_pause
                                 : std::chrono::seconds{0});
    count_complete();
    return;
  }
  census_->close();
  const auto& all = census_->all();
  const auto missing = all.active - all.complete;
  complete_metrics_.set(all);
  hint(*census_);
  // The rows may show it since an earlier start, too.
  left_out_ |= all.without[completeness::covered_term] > 0;
  env_.shared->completeness.put({std::exchange(census_, nullptr), wall()});
  mends_.on_end();
  complete_laps_.on_end(missing == 0, now());
  count_complete();
}

} // namespace weir::actors
