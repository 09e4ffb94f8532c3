#include "actors/router/router_impl.hpp"
#include "actors/support/finished_frames.hpp"

#include <caf/actor_system.hpp>

#include <utility>

namespace weir::actors {

/// While too many REPOs live only frames wait that would wake more.
void router::take(frames batch) {
  if (held_.empty() && !residents_.is_crowded()) {
    route(std::move(batch));
    return;
  }
  const auto first = held_.empty();
  route(held_.add(std::move(batch), [this](const atproto::stamped_frame& x) {
    return residents_.find(x.repo) == nullptr
           && (is_tracked(x.repo) || tracking_.discovers(x));
  }));
  take_held();
  const auto now = shared_->time->steady_now();
  if (first && !held_.empty())
    timer_.arm(this, now, now + options_.sweep / limits::held_tries_per_sweep);
}

void router::take_held() {
  while (!residents_.is_crowded()) {
    auto frame = held_.next();
    if (!frame)
      return;
    frames one;
    one.push_back(std::move(*frame));
    route(std::move(one));
  }
}

void router::route(frames batch) {
  finished_frames dropped;
  std::unordered_map<atproto::did, frames> by_repo;
  std::vector<atproto::did> order;
  for (auto& x : batch) {
    if (!wanted(x)) {
      dropped.add(x.at);
      continue;
    }
    auto& own = by_repo[x.repo];
    if (own.empty())
      order.push_back(x.repo);
    own.push_back(std::move(x));
  }
  for (const auto& did : order)
    deliver(did, std::move(by_repo[did]));
  dropped.tell(this, *shared_);
}

bool router::wanted(const atproto::stamped_frame& x) {
  if (is_tracked(x.repo))
    return true;
  if (!tracking_.discovers(x))
    return false;
  start(x.repo);
  return true;
}

/// @param then Runs when the repo is durably tracked, or cannot be.
void router::start(const atproto::did& repo, std::function<void()> then) {
  tracked_.insert(atproto::stable_hash(repo.str()));
  when_awake(repo, [this, repo, then = std::move(then)](const repo_actor& to) {
    request(to, caf::infinite, add_repos{{repo}, {}})
      .then([then](const add_result&) { then(); },
            [then](caf::error&) { then(); });
  });
}

/// Runs now, or when the successor of a closing or dead REPO is there.
void router::when_awake(const atproto::did& repo,
                        std::function<void(const repo_actor&)> run) {
  auto& x = wake(repo);
  if (x.at == phase::awake) {
    run(x.home.handle);
    return;
  }
  x.home.later.push_back([this, repo, run = std::move(run)] {
    run(residents_.find(repo)->home.handle);
  });
}

void router::admit(const atproto::did& repo,
                   std::function<void(const repo_actor&)> run) {
  commands_.add({repo, std::move(run)});
  begin_commands();
}

void router::begin_commands() {
  while (auto x = commands_.next(residents_.size()))
    when_awake(x->repo, std::move(x->run));
}

void router::command_done() {
  commands_.done();
  begin_commands();
}

void router::deliver(const atproto::did& repo, frames batch) {
  auto& x = wake(repo);
  if (x.at == phase::awake) {
    send(x.home.handle, repo_frames{std::move(batch)});
    return;
  }
  if (x.at == phase::parked) {
    give_up(batch);
    return;
  }
  std::move(batch.begin(), batch.end(), std::back_inserter(x.home.stash));
}

/// Sends one command to the REPO of each DID and adds up the answers. One that
/// failed fails the sum: it would be too small.
template <class Reply, class Request>
caf::result<Reply> router::forward_all(const Request& x,
                                       uint32_t Reply::*count) {
  struct sum {
    caf::typed_response_promise<Reply> promise;
    Reply total;
    caf::error failed;
    size_t left = 0;

    void finish_one() {
      if (--left > 0)
        return;
      if (failed)
        promise.deliver(failed);
      else
        promise.deliver(total);
    }
  };
  auto state = std::make_shared<sum>();
  state->promise = make_response_promise<Reply>();
  state->left = x.repos.size() + 1;
  constexpr auto adds = std::is_same_v<Request, add_repos>;
  auto blank = std::make_shared<Request>(x);
  blank->repos.clear();
  for (const auto& repo : x.repos) {
    const auto hash = atproto::stable_hash(repo.str());
    if (!adds && !tracked_.contains(hash)) {
      --state->left;
      continue;
    }
    admit(repo, [=, this](const repo_actor& to) {
      if (adds) // Not before: its frames come behind this command.
        tracked_.insert(hash);
      auto one = *blank;
      one.repos.push_back(repo);
      request(to, caf::infinite, std::move(one))
        .then(
          [=, this](const Reply& y) {
            state->total.*count += y.*count;
            state->finish_one();
            command_done();
          },
          [=, this](const caf::error& why) {
            state->failed = why;
            state->finish_one();
            command_done();
          });
    });
  }
  state->finish_one();
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

/// Answers when what the lines changed is durable.
caf::result<listing_taken> router::listed(const repo_listing& x) {
  auto promise = make_response_promise<listing_taken>();
  const auto left = std::make_shared<size_t>(1);
  auto taken = [promise, left]() mutable {
    if (--*left == 0)
      promise.deliver(listing_taken{});
  };
  auto answered = [this, taken]() mutable {
    taken();
    command_done();
  };
  for (const auto& line : x.repos) {
    if (is_tracked(line.repo)) {
      ++*left;
      admit(line.repo, [=, this](const repo_actor& to) {
        request(to, caf::infinite, line)
          .then([answered](const listing_taken&) mutable { answered(); },
                [answered](caf::error&) mutable { answered(); });
      });
    } else if (x.discover) {
      ++*left;
      admit(line.repo,
            [=, this](const repo_actor&) { start(line.repo, answered); });
    }
  }
  taken();
  return promise;
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
      residents_.for_each([this](home& x) {
        if (x.handle)
          send(x.handle, stop_actor{});
      });
      quit();
    },
    [this](frame_batch& x) { take(std::move(x.frames)); },
    [this](const repo_passive& x) { on_passive(x); },
    [this](const journal_fenced& x) { on_fenced(x); },
    [this](const settings_changed& x) {
      residents_.for_each([&](home& to) {
        if (to.handle)
          send(to.handle, x);
      });
    },
    [this](const add_repos& x) -> caf::result<add_result> {
      return forward_all<add_result>(x, &add_result::queued);
    },
    [this](const remove_repos& x) -> caf::result<remove_result> {
      return forward_all<remove_result>(x, &remove_result::removed);
    },
    [this](const resync_repos& x) -> caf::result<resync_result> {
      return forward_all<resync_result>(x, &resync_result::queued);
    },
    [this](const repo_status_request& x) { return status(x); },
    [this](const repo_listing& x) { return listed(x); },
    [this](const prepare_fetch& x) {
      when_awake(x.repo, [this, x](const repo_actor& to) { send(to, x); });
    },
    [this](const account_told& x) {
      if (is_tracked(x.repo))
        when_awake(x.repo, [this, x](const repo_actor& to) { send(to, x); });
    },
    [this](const account_unasked& x) {
      if (is_tracked(x.repo))
        when_awake(x.repo, [this, x](const repo_actor& to) { send(to, x); });
    },
  };
}

router_actor spawn_router(caf::actor_system& system, context_ptr shared,
                          router_options options, tracked_set tracked,
                          repo_factory make_repo) {
  return system.spawn<router>(std::move(shared), std::move(options),
                              std::move(tracked), std::move(make_repo));
}

} // namespace weir::actors
