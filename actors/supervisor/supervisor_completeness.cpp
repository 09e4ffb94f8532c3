#include "actors/supervisor/limits_accounts.hpp"
#include "actors/supervisor/supervisor_impl.hpp"
#include "actors/support/node_sums.hpp"
#include "base/log.hpp"

#include <set>

/// Counts the complete repos: goes through all rows, a page at a time.
namespace weir::actors {

namespace {

result<completeness_page> read_page(const context& shared,
                                    completeness_look& look,
                                    const std::set<uint32_t>& listed,
                                    const atproto::did& after) {
  using chain = result<std::shared_ptr<const storage::chain_row>>;
  const auto rows = shared.stores.page(after);
  if (!rows)
    return rows.error();
  return look.take(*rows, {shared.upstreams, listed, shared.time->steady_now(),
                           shared.time->wall_now(),
                           [&shared](const atproto::did& repo) -> chain {
                             auto known = shared.stores.of(repo).load_repo(repo);
                             if (!known)
                               return known.error();
                             return std::move(known->chain);
                           }});
}

} // namespace

/// Reads one page at a time; meanwhile only its READER uses the look.
void supervisor::count_complete() {
  if (const auto after = complete_laps_.next(now())) {
    if (after->empty()) {
      look_ = std::make_shared<completeness_look>(env_.filter_generation);
      mends_.on_begin();
      hints_.on_look(env_.shared->upstreams.all());
    }
    std::set<uint32_t> listed;
    for (const auto& x : env_.shared->upstreams.all())
      if (listing_.is_compared({x.id, {}}, x.epoch))
        listed.insert(x.id);
    read([to = supervisor_actor{this}, shared = env_.shared, look = look_,
          listed = std::move(listed), after = *after](store_readers&) {
      caf::anon_send(to, read_page(*shared, *look, listed, after));
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
    if (const auto question
        = mends_.question_about(each, questions_, now())) {
      asked = true;
      perform(questions_.on_question(*question, now()));
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
  auto& census = look_->census;
  census.close();
  const auto& all = census.all();
  const auto missing = all.active - all.complete;
  complete_metrics_.set(all);
  hint(census);
  if (all.without[completeness::covered_term] > 0)
    left_out_.on_uncovered();
  const auto look = std::exchange(look_, nullptr);
  env_.shared->completeness.put({{look, &census}, wall()});
  mends_.on_end();
  complete_laps_.on_end(missing == 0, now());
  count_complete();
}

} // namespace weir::actors
