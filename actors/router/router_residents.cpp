#include "actors/router/router_impl.hpp"
#include "actors/support/finished_frames.hpp"
#include "base/log.hpp"

#include <utility>

/// Carries out what `resident_machine` decides.
namespace weir::actors {

router::residents::resident& router::wake(const atproto::did& repo) {
  const auto visit = residents_.wake(repo, shared_->time->steady_now());
  if (visit.fresh) {
    spawn(repo, visit.to.home);
    close(residents_.make_room(), true);
  }
  return visit.to;
}

void router::spawn(const atproto::did& repo, home& x) {
  x.handle = make_repo_(router_actor{this}, repo, incarnation_);
  by_address_[x.handle.address()] = repo;
  monitor(x.handle);
  resume(x);
}

/// Passes the work that had to wait to the REPO, in order.
void router::resume(home& x) {
  if (!x.stash.empty())
    send(x.handle, repo_frames{std::exchange(x.stash, {})});
  for (auto& run : std::exchange(x.later, {}))
    run();
}

void router::close(const residents::closing& x, bool crowded) {
  for (const auto* each : x)
    send(each->handle, passivate_repo{crowded});
}

void router::fence(const atproto::did& repo) {
  send(home_->journal, journal_fence{repo}, router_actor{this});
}

void router::on_passive(const repo_passive& x) {
  auto* known = residents_.find(x.repo);
  if (known != nullptr && !x.busy) {
    demonitor(known->home.handle.address());
    by_address_.erase(known->home.handle.address());
  }
  switch (residents_.on_passive(x.repo, x.busy, shared_->time->steady_now())) {
    case residents::passed::awake:
      resume(known->home);
      return;
    case residents::passed::again:
      spawn(x.repo, known->home);
      return;
    case residents::passed::gone:
      take_waiting();
      return;
    case residents::passed::nothing:
      return;
  }
}

/// A REPO died: its frames come again from the upstreams, and its late updates
/// are fenced off first (actors.md, One update of a repo). A repo whose REPO
/// dies again and again is parked for a while, since each death costs every
/// stream a reconnect. Its row records that first, so that the loss of its
/// frames is known.
void router::on_repo_down(const caf::down_msg& x) {
  const auto known = by_address_.extract(x.source);
  if (known.empty())
    return;
  const auto& repo = known.mapped();
  auto* dead = residents_.on_died(repo, shared_->time->steady_now());
  if (dead == nullptr)
    return;
  dead->home.handle = nullptr;
  dead->home.stash.clear();
  if (dead->at == phase::fencing) {
    log::warn("repo_died", {{"did", repo.str()}});
    fence(repo);
  } else {
    log::error("repo_parked",
               {{"did", repo.str()},
                {"reason", "it died too often; its events are not handled for "
                           "a minute, and then it is fetched"}});
    send(home_->journal, journal_missed{repo}, router_actor{this});
  }
  on_doubt({repo});
}

/// The row records on disk that frames are missing. The frames that the REPO
/// had come again, and are then given up.
void router::on_noted(const journal_noted& x) {
  auto* parked = residents_.on_noted(x.repo, shared_->time->steady_now());
  if (parked == nullptr)
    return;
  give_up(std::exchange(parked->home.stash, {}));
  tell_lost();
}

void router::give_up(const frames& batch) {
  finished_frames given_up;
  for (const auto& x : batch)
    given_up.add(x.at);
  given_up.tell(this, *shared_);
}

void router::tell_lost() {
  waiting_.forget_frames(); // These frames come again as well, in order.
  for (const auto& upstream : shared_->all_upstreams())
    send(upstream, frames_lost{});
}

void router::on_fenced(const journal_fenced& x) {
  incarnation_ = std::max(incarnation_, x.incarnation);
  if (auto* next = residents_.on_fenced(x.repo)) {
    spawn(x.repo, next->home);
    tell_lost();
  }
}

void router::sweep() {
  const auto now = shared_->time->steady_now();
  const auto due = residents_.sweep(now);
  close(due.close, false);
  for (auto x = residents_.make_room(); !x.empty(); x = residents_.make_room())
    close(x, true);
  for (const auto& repo : due.fence)
    fence(repo);
  take_waiting();
  const auto tries = waiting_.has_frames() ? limits::held_tries_per_sweep : 1;
  timer_.arm(this, now, now + options_.sweep / tries);
}

} // namespace weir::actors
