#include "actors/router/router.hpp"

#include "actors/support/observed.hpp"
#include "actors/support/timer.hpp"
#include "base/log.hpp"
#include "messages/backfill.hpp"
#include "messages/journal.hpp"

#include <caf/actor_system.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <list>
#include <map>
#include <unordered_map>

namespace weir::actors {

namespace {

class router final : public observed<router_actor::base> {
public:
  router(caf::actor_config& config, context_ptr shared, router_options options,
         tracked_set tracked, repo_factory make_repo)
    : observed(config, "router", std::to_string(options.shard)),
      shared_(std::move(shared)), options_(std::move(options)),
      tracked_(std::move(tracked)), make_repo_(std::move(make_repo)) {
    // nop
  }

  behavior_type make_behavior() override;

  void on_exit() override {
    residents_.clear();
    by_address_.clear();
    shared_ = nullptr;
    make_repo_ = nullptr;
    observed::on_exit();
  }

private:
  /// `fencing`: its actor died; nothing may write for it until the JOURNAL
  /// has shut its late updates out.
  enum class phase : uint8_t { awake, closing, fencing };

  struct resident {
    repo_actor handle;
    phase at = phase::awake;
    std::vector<atproto::stamped_frame> stash;
    std::vector<std::function<void()>> later; ///< Commands, until awake.
    steady_time used;
    std::list<atproto::did>::iterator lru;
  };

  using resident_map = std::unordered_map<atproto::did, resident>;
  using frames = std::vector<atproto::stamped_frame>;

  void route(frames batch);
  bool wanted(const atproto::stamped_frame& x);
  bool signals(const atproto::stamped_frame& x) const;
  void deliver(const atproto::did& repo, frames batch);
  resident& wake(const atproto::did& repo);
  void spawn(const atproto::did& repo, resident& x);
  void drop(resident_map::iterator i);
  void resume(resident& x);
  void when_awake(const atproto::did& repo,
                  std::function<void(const repo_actor&)> run);
  void on_passive(const repo_passive& x);
  void on_repo_down(const caf::down_msg& x);
  void on_fenced(const journal_fenced& x);
  caf::result<repo_status_reply> status(const repo_status_request& x);
  void listed(const repo_listing& x);
  void sweep();
  void close(resident& x);
  void start(const atproto::did& repo);

  template <class Reply, class Request>
  caf::result<Reply> forward_all(const Request& x, uint32_t Reply::*count);

  context_ptr shared_;
  router_options options_;
  tracked_set tracked_;
  repo_factory make_repo_;
  resident_map residents_;
  std::unordered_map<caf::actor_addr, atproto::did> by_address_;
  std::list<atproto::did> lru_; ///< Most recent first.
  std::unordered_map<atproto::did, uint64_t> incarnations_;
  actor_timer timer_;
};

void router::route(frames batch) {
  std::map<std::pair<uint32_t, uint32_t>, std::vector<uint64_t>> dropped;
  std::unordered_map<atproto::did, frames> by_repo;
  std::vector<atproto::did> order;
  for (auto& x : batch) {
    if (!wanted(x)) {
      dropped[{x.at.upstream, x.at.epoch}].push_back(x.at.seq);
      continue;
    }
    auto& home = by_repo[x.repo];
    if (home.empty())
      order.push_back(x.repo);
    home.push_back(std::move(x));
  }
  for (const auto& did : order)
    deliver(did, std::move(by_repo[did]));
  for (auto& [stream, seqs] : dropped)
    if (const auto to = shared_->upstream(stream.first))
      send(to, frames_done{stream.second, std::move(seqs)});
}

/// The rules for tracked and unknown DIDs.
bool router::wanted(const atproto::stamped_frame& x) {
  if (tracked_.contains(atproto::stable_hash(x.repo.str())))
    return true;
  switch (options_.mode) {
    case tracking_mode::manual:
      return false;
    case tracking_mode::signal:
      if (!signals(x))
        return false;
      break;
    case tracking_mode::full_network:
      if (!atproto::supported_did(x.repo.str()))
        return false;
      break;
  }
  start(x.repo);
  return true;
}

/// A create or update in the signal collection discovers a repo (SYNC-18,
/// 3b.2, 3b.16): looked for before any filter.
bool router::signals(const atproto::stamped_frame& x) const {
  if (x.kind != atproto::frame_kind::commit
      || !atproto::supported_did(x.repo.str()))
    return false;
  const auto event = atproto::decode_frame(x.bytes.view());
  if (!event)
    return false;
  for (const auto& op : std::get<atproto::commit_event>(*event).ops)
    if (op.action != atproto::op_action::remove
        && atproto::valid_repo_path(op.path)
        && options_.signal.matches(atproto::split_path(op.path).collection))
      return true;
  return false;
}

void router::start(const atproto::did& repo) {
  tracked_.insert(atproto::stable_hash(repo.str()));
  when_awake(repo, [this, repo](const repo_actor& to) {
    request(to, caf::infinite, add_repos{{repo}, {}})
      .then([](const add_result&) {}, [](caf::error&) {});
  });
}

/// Runs now, or when the successor of a closing or dead REPO is there.
void router::when_awake(const atproto::did& repo,
                        std::function<void(const repo_actor&)> run) {
  auto& x = wake(repo);
  if (x.at == phase::awake) {
    run(x.handle);
    return;
  }
  x.later.push_back([this, repo, run = std::move(run)] {
    run(residents_.find(repo)->second.handle);
  });
}

void router::deliver(const atproto::did& repo, frames batch) {
  auto& x = wake(repo);
  if (x.at == phase::awake) {
    send(x.handle, repo_frames{std::move(batch)});
    return;
  }
  std::move(batch.begin(), batch.end(), std::back_inserter(x.stash));
}

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

/// Sends one command to the REPO of each DID and adds up the answers.
template <class Reply, class Request>
caf::result<Reply> router::forward_all(const Request& x,
                                       uint32_t Reply::*count) {
  struct sum {
    caf::typed_response_promise<Reply> promise;
    Reply total;
    size_t left = 0;
  };
  auto state = std::make_shared<sum>();
  state->promise = make_response_promise<Reply>();
  state->left = x.repos.size();
  const auto finish_one = [state, count](uint32_t n) {
    state->total.*count += n;
    if (--state->left == 0)
      state->promise.deliver(state->total);
  };
  if (x.repos.empty())
    state->promise.deliver(state->total);
  for (const auto& repo : x.repos) {
    auto one = x;
    one.repos = {repo};
    when_awake(repo, [=, this](const repo_actor& to) {
      request(to, caf::infinite, one)
        .then([=](const Reply& y) { finish_one(y.*count); },
              [=](caf::error&) { finish_one(0); });
    });
  }
  return state->promise;
}

caf::result<repo_status_reply>
router::status(const repo_status_request& x) {
  auto promise = make_response_promise<repo_status_reply>();
  when_awake(x.repo, [this, promise, x](const repo_actor& to) {
    request(to, caf::infinite, x)
      .then([promise](const repo_status_reply& y) mutable {
        promise.deliver(y);
      },
            [promise](caf::error& y) mutable { promise.deliver(y); });
  });
  return promise;
}

void router::listed(const repo_listing& x) {
  for (const auto& line : x.repos) {
    if (tracked_.contains(atproto::stable_hash(line.repo.str())))
      when_awake(line.repo,
                 [this, line](const repo_actor& to) { send(to, line); });
    else if (x.discover)
      start(line.repo);
  }
}

router_actor::behavior_type router::make_behavior() {
  set_down_handler([this](caf::down_msg& x) { on_repo_down(x); });
  set_exit_handler([this](caf::exit_msg& x) { quit(x.reason); });
  const auto now = shared_->time->steady_now();
  timer_.arm(this, now, now + options_.sweep);
  return {
    [this](tick x) {
      if (timer_.fired(x))
        sweep();
    },
    [this](stop_actor) {
      for (auto& [did, x] : residents_)
        if (x.handle)
          send(x.handle, stop_actor{});
      quit();
    },
    [this](frame_batch& x) { route(std::move(x.frames)); },
    [this](const repo_passive& x) { on_passive(x); },
    [this](const journal_fenced& x) { on_fenced(x); },
    [this](const settings_changed& x) {
      for (auto& [did, home] : residents_)
        if (home.handle)
          send(home.handle, x);
    },
    [this](const add_repos& x) -> caf::result<add_result> {
      for (const auto& repo : x.repos)
        tracked_.insert(atproto::stable_hash(repo.str()));
      return forward_all<add_result>(x, &add_result::queued);
    },
    [this](const remove_repos& x) -> caf::result<remove_result> {
      return forward_all<remove_result>(x, &remove_result::removed);
    },
    [this](const resync_repos& x) -> caf::result<resync_result> {
      return forward_all<resync_result>(x, &resync_result::queued);
    },
    [this](const repo_status_request& x) { return status(x); },
    [this](const repo_listing& x) { listed(x); },
    [this](const prepare_fetch& x) {
      when_awake(x.repo, [this, x](const repo_actor& to) { send(to, x); });
    },
    [this](const begin_fetch& x) {
      when_awake(x.repo, [this, x](const repo_actor& to) { send(to, x); });
    },
  };
}

} // namespace

router_actor spawn_router(caf::actor_system& system, context_ptr shared,
                          router_options options, tracked_set tracked,
                          repo_factory make_repo) {
  return system.spawn<router>(std::move(shared), std::move(options),
                              std::move(tracked), std::move(make_repo));
}

} // namespace weir::actors
