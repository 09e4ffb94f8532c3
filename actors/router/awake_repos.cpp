#include "actors/router/awake_repos.hpp"

#include "actors/support/finished_frames.hpp"
#include "base/log.hpp"
#include "messages/journal.hpp"

#include <utility>

namespace weir::actors {

awake_repos::residents::resident& awake_repos::wake(const atproto::did& repo) {
  const auto visit = residents_.wake(repo, shared_->time->steady_now());
  if (visit.fresh) {
    spawn(repo, visit.to.home);
    close(residents_.make_room(), true);
  }
  return visit.to;
}

void awake_repos::spawn(const atproto::did& repo, home& x) {
  x.handle = make_repo_(router_actor{self_}, repo, incarnation_);
  by_address_[x.handle.address()] = repo;
  self_->monitor(x.handle);
  resume(x);
}

/// Passes the work that had to wait to the REPO, in order.
void awake_repos::resume(home& x) {
  if (!x.stash.empty())
    self_->send(x.handle, repo_frames{std::exchange(x.stash, {})});
  for (auto& run : std::exchange(x.later, {}))
    run();
}

void awake_repos::deliver(const atproto::did& repo, frames batch) {
  auto& x = wake(repo);
  if (x.at == phase::awake)
    return self_->send(x.home.handle, repo_frames{std::move(batch)});
  if (x.at == phase::parked)
    return give_up(batch);
  std::move(batch.begin(), batch.end(), std::back_inserter(x.home.stash));
}

void awake_repos::when_awake(const atproto::did& repo,
                             std::function<void(const repo_actor&)> run) {
  auto& x = wake(repo);
  if (x.at == phase::awake)
    return run(x.home.handle);
  x.home.later.push_back([this, repo, run = std::move(run)] {
    run(residents_.find(repo)->home.handle);
  });
}

void awake_repos::close(const residents::closing& x, bool must_yield) {
  for (const auto* each : x)
    self_->send(each->handle, passivate_repo{must_yield});
}

void awake_repos::fence(const atproto::did& repo) {
  self_->send(home_->journal, journal_fence{repo}, router_actor{self_});
}

bool awake_repos::on_passive(const repo_passive& x) {
  auto* known = residents_.find(x.repo);
  if (known != nullptr && !x.busy) {
    self_->demonitor(known->home.handle.address());
    by_address_.erase(known->home.handle.address());
  }
  const auto now = shared_->time->steady_now();
  const auto passed = residents_.on_passive(x.repo, x.busy, now);
  if (passed == residents::passed::awake)
    resume(known->home);
  else if (passed == residents::passed::again)
    spawn(x.repo, known->home);
  return passed == residents::passed::gone;
}

/// A REPO died: its frames come again from the upstreams, and its late updates
/// are fenced off first (actors.md, One update of a repo). A repo whose REPO
/// dies again and again is parked for a while, since each death costs every
/// stream a reconnect. Its row records that first, so that the loss of its
/// frames is known.
std::optional<atproto::did> awake_repos::on_down(const caf::down_msg& x) {
  const auto known = by_address_.extract(x.source);
  if (known.empty())
    return std::nullopt;
  const auto& repo = known.mapped();
  auto* dead = residents_.on_died(repo, shared_->time->steady_now());
  if (dead == nullptr)
    return std::nullopt;
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
    self_->send(home_->journal, journal_missed{repo}, router_actor{self_});
  }
  return repo;
}

/// The row records on disk that frames are missing. The frames that the REPO
/// had come again, and are then given up.
bool awake_repos::on_noted(const journal_noted& x) {
  auto* parked = residents_.on_noted(x.repo, shared_->time->steady_now());
  if (parked == nullptr)
    return false;
  give_up(std::exchange(parked->home.stash, {}));
  return true;
}

void awake_repos::give_up(const frames& batch) {
  finished_frames given_up;
  for (const auto& x : batch)
    given_up.add(x.at);
  given_up.tell(self_, *shared_);
}

bool awake_repos::on_fenced(const journal_fenced& x) {
  incarnation_ = std::max(incarnation_, x.incarnation);
  auto* next = residents_.on_fenced(x.repo);
  if (next != nullptr)
    spawn(x.repo, next->home);
  return next != nullptr;
}

void awake_repos::sweep() {
  const auto due = residents_.sweep(shared_->time->steady_now());
  close(due.close, false);
  for (auto x = residents_.make_room(); !x.empty(); x = residents_.make_room())
    close(x, true);
  for (const auto& repo : due.fence)
    fence(repo);
}

void awake_repos::stop() {
  residents_.for_each([this](home& x) {
    if (x.handle)
      self_->send(x.handle, stop_actor{});
  });
  residents_.clear();
  by_address_.clear();
  shared_ = nullptr;
  home_ = nullptr;
  make_repo_ = nullptr;
}

} // namespace weir::actors
