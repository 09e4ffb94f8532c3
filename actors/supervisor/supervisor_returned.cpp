#include "actors/supervisor/supervisor_impl.hpp"

/// Accounts that are active again, in signal mode: returned_machine holds the
/// rules.
namespace weir::actors {

void supervisor::perform(const returned_machine::effects& x) {
  for (const auto& each : x.ask)
    env_.list(env_.shared->upstreams.find(each.upstream), one_account,
              each.repo.str(), supervisor_actor{this});
  if (x.timer)
    timer_.arm(this, now(), *x.timer);
}

/// While repos are not fetched, such accounts are left to the next listing.
void supervisor::on_active(uint32_t upstream, const atproto::did& repo) {
  if (env_.shared->intake.backfills())
    perform(returned_.on_active(upstream, repo, now()));
}

/// A host that does not offer this request has given its final answer.
void supervisor::on_returned(const listing_page& x) {
  const auto fails = !x.repos && x.repos.error().code != ec::not_found;
  if (fails || x.unanswered > 0)
    return perform(returned_.on_failed(x.upstream, x.retry_after, now()));
  if (x.repos)
    for (const auto& line : *x.repos)
      look_up_named(x.upstream, line.repo, true, true);
  perform(returned_.on_answer(x.upstream, now()));
}

/// Its document names the host, and it has records of a signal collection.
void supervisor::take_up(uint32_t upstream, const atproto::did& repo) {
  repo_listed line;
  line.repo = repo;
  line.upstream = upstream;
  request(router_of(repo), caf::infinite, repo_listing{{std::move(line)}, true})
    .then([](const listing_taken&) {}, [](const caf::error&) {});
}

} // namespace weir::actors
