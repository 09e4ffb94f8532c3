#include "actors/router/router_impl.hpp"
#include "actors/support/finished_frames.hpp"
#include "base/limits.hpp"
#include "base/log.hpp"

#include <utility>

/// The life of resident REPOs: woken by work, put to sleep when idle, fenced
/// and replaced when they die.
namespace weir::actors {

router::resident& router::wake(const atproto::did& repo) {
  const auto [i, added] = residents_.try_emplace(repo);
  auto& x = i->second;
  if (!added && x.at == phase::parked)
    return x;
  x.used = shared_->time->steady_now();
  if (!added) {
    lru_.splice(lru_.begin(), lru_, x.lru);
    return x;
  }
  lru_.push_front(repo);
  x.lru = lru_.begin();
  spawn(repo, x);
  make_room();
  return x;
}

/// Asks the least used to close, as many as there are too many. Those that
/// are busy say so and count as used.
void router::make_room() {
  auto tries = limits::router_close_tries_max;
  for (auto i = lru_.rbegin();
       i != lru_.rend() && tries > 0
       && residents_.size() - closing_ > options_.resident_max;
       ++i, --tries)
    close(residents_.find(*i)->second);
}

void router::set_phase(resident& x, phase to) {
  closing_ -= x.at == phase::closing ? 1 : 0;
  closing_ += to == phase::closing ? 1 : 0;
  x.at = to;
}

void router::spawn(const atproto::did& repo, resident& x) {
  const auto known = incarnations_.find(repo);
  x.handle = make_repo_(router_actor{this}, repo,
                        known == incarnations_.end() ? 0 : known->second);
  by_address_[x.handle.address()] = repo;
  monitor(x.handle);
  resume(x);
}

/// What had to wait goes to the REPO, in order.
void router::resume(resident& x) {
  set_phase(x, phase::awake);
  if (!x.stash.empty())
    send(x.handle, repo_frames{std::exchange(x.stash, {})});
  for (auto& run : std::exchange(x.later, {}))
    run();
}

void router::close(resident& x) {
  if (x.at != phase::awake)
    return;
  set_phase(x, phase::closing);
  send(x.handle, passivate_repo{});
}

void router::drop(resident_map::iterator i) {
  set_phase(i->second, phase::awake);
  by_address_.erase(i->second.handle.address());
  lru_.erase(i->second.lru);
  residents_.erase(i);
}

void router::on_passive(const repo_passive& x) {
  if (x.untracked)
    tracked_.erase(atproto::stable_hash(x.repo.str()));
  if (x.tracked)
    tracked_.insert(atproto::stable_hash(x.repo.str()));
  const auto i = residents_.find(x.repo);
  if (i == residents_.end())
    return;
  if (x.busy) {
    if (i->second.at != phase::closing)
      return;
    i->second.used = shared_->time->steady_now();
    lru_.splice(lru_.begin(), lru_, i->second.lru);
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
/// shut out first (architecture.md 3, REPO life). One that dies again and again
/// is left alone for a while: each death costs every stream a reconnect.
void router::on_repo_down(const caf::down_msg& x) {
  const auto known = by_address_.find(x.source);
  if (known == by_address_.end())
    return;
  const auto repo = known->second;
  by_address_.erase(known);
  auto& dead = residents_[repo];
  dead.handle = nullptr;
  const auto now = shared_->time->steady_now();
  if (deaths_.size() >= limits::repo_deaths_known_max)
    deaths_.clear();
  auto& policy = deaths_.try_emplace(repo, limits::repo_restarts_max,
                                     limits::repo_restart_window)
                   .first->second;
  if (policy.may_restart(now)) {
    log::warn("repo_died", {{"did", repo.str()}});
    set_phase(dead, phase::fencing);
    dead.stash.clear();
    send(shared_->journal, journal_fence{repo, router_actor{this}});
    return;
  }
  log::error("repo_parked", {{"did", repo.str()},
                             {"reason", "it died too often; its events are "
                                        "given up for a minute"}});
  set_phase(dead, phase::parked);
  dead.used = now;
  give_up(std::exchange(dead.stash, {}));
  for (const auto& upstream : shared_->all_upstreams())
    send(upstream, frames_lost{}); // What it held comes again, to be given up.
}

void router::give_up(const frames& batch) {
  finished_frames given_up;
  for (const auto& x : batch)
    given_up.add(x.at);
  given_up.tell(this, *shared_);
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
  for (auto& [repo, x] : residents_)
    if (x.at == phase::parked
        && now - x.used >= limits::repo_restart_window) {
      set_phase(x, phase::fencing);
      send(shared_->journal, journal_fence{repo, router_actor{this}});
    }
  timer_.arm(this, now, now + options_.sweep);
}

} // namespace weir::actors
