#include "actors/router/router_impl.hpp"
#include "base/log.hpp"

#include <utility>

/// The life of resident REPOs: woken by work, put to sleep when idle, fenced
/// and replaced when they die.
namespace weir::actors {

router::resident& router::wake(const atproto::did& repo) {
  const auto [i, added] = residents_.try_emplace(repo);
  auto& x = i->second;
  x.used = shared_->time->steady_now();
  if (!added) {
    lru_.splice(lru_.begin(), lru_, x.lru);
    return x;
  }
  lru_.push_front(repo);
  x.lru = lru_.begin();
  spawn(repo, x);
  if (residents_.size() > options_.resident_max) {
    const auto oldest = residents_.find(lru_.back());
    close(oldest->second);
  }
  return x;
}

void router::spawn(const atproto::did& repo, resident& x) {
  const auto known = incarnations_.find(repo);
  x.at = phase::awake;
  x.handle = make_repo_(router_actor{this}, repo,
                        known == incarnations_.end() ? 0 : known->second);
  by_address_[x.handle.address()] = repo;
  monitor(x.handle);
  resume(x);
}

/// What had to wait goes to the REPO, in order.
void router::resume(resident& x) {
  x.at = phase::awake;
  if (!x.stash.empty())
    send(x.handle, repo_frames{std::exchange(x.stash, {})});
  for (auto& run : std::exchange(x.later, {}))
    run();
}

void router::close(resident& x) {
  if (x.at != phase::awake)
    return;
  x.at = phase::closing;
  send(x.handle, passivate_repo{});
}

void router::drop(resident_map::iterator i) {
  by_address_.erase(i->second.handle.address());
  lru_.erase(i->second.lru);
  residents_.erase(i);
}

void router::on_passive(const repo_passive& x) {
  if (x.untracked)
    tracked_.erase(atproto::stable_hash(x.repo.str()));
  const auto i = residents_.find(x.repo);
  if (i == residents_.end())
    return;
  if (x.busy) {
    if (i->second.at != phase::closing)
      return;
    resume(i->second);
    return;
  }
  demonitor(i->second.handle.address());
  by_address_.erase(i->second.handle.address());
  if (i->second.stash.empty() && i->second.later.empty())
    drop(i);
  else
    spawn(x.repo, i->second);
}

/// A REPO died: its frames come again from the upstreams, its late updates are
/// shut out first (architecture.md 3, REPO life).
void router::on_repo_down(const caf::down_msg& x) {
  const auto known = by_address_.find(x.source);
  if (known == by_address_.end())
    return;
  const auto repo = known->second;
  by_address_.erase(known);
  auto& dead = residents_[repo];
  log::warn("repo_died", {{"did", repo.str()}});
  dead.at = phase::fencing;
  dead.handle = nullptr;
  dead.stash.clear();
  send(shared_->journal, journal_fence{repo, router_actor{this}});
}

void router::on_fenced(const journal_fenced& x) {
  incarnations_[x.repo] = x.incarnation;
  const auto i = residents_.find(x.repo);
  if (i == residents_.end() || i->second.at != phase::fencing)
    return;
  spawn(x.repo, i->second);
  for (const auto& upstream : shared_->all_upstreams())
    send(upstream, frames_lost{});
}

void router::sweep() {
  const auto now = shared_->time->steady_now();
  for (auto i = lru_.rbegin(); i != lru_.rend(); ++i) {
    auto& x = residents_.find(*i)->second;
    if (now - x.used < options_.idle_max)
      break;
    close(x);
  }
  timer_.arm(this, now, now + options_.sweep);
}

} // namespace weir::actors
