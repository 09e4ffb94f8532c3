#include "actors/router/router.hpp"

#include "actors/router/listing_gate.hpp"
#include "actors/router/repo_commands.hpp"
#include "actors/support/finished_frames.hpp"
#include "actors/support/observed.hpp"
#include "actors/support/owed_answer.hpp"
#include "actors/support/timer.hpp"
#include "messages/account.hpp"
#include "messages/claims.hpp"
#include "messages/journal.hpp"

#include <caf/actor_system.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <utility>

namespace weir::actors {

namespace {

/// The ROUTER: what becomes of frames, listings and claims. `awake_repos` has
/// its REPOs, `repo_commands` the commands for them.
class router final : public observed<router_actor::base> {
public:
  router(caf::actor_config& config, context_ptr shared, home_ptr partition,
         router_options options, tracked_set tracked, repo_factory make_repo)
    : observed(config, "router", turn::full), shared_(std::move(shared)),
      home_(std::move(partition)),
      shard_(shared_->routers().size()
             - shared_->places().first_router(home_->number)),
      tracking_(options.mode, options.signal), tracked_(std::move(tracked)),
      repos_(this, shared_, home_, options.residents, std::move(make_repo)),
      waiting_(options.residents.resident_max),
      lines_(options.residents.resident_max) {}

  behavior_type make_behavior() override;

  void on_exit() override {
    repos_.stop();
    waiting_.clear();
    lines_.clear();
    shared_ = nullptr;
    home_ = nullptr;
    observed::on_exit();
  }

private:
  using frames = awake_repos::frames;
  using discovery = tracking_machine::step;

  void take(frames batch);
  void take_waiting();
  void route(frames batch);
  bool wanted(const atproto::stamped_frame& x);

  void tell_lost();
  void begin_lines();
  void give_line(const repo_listed& line, std::function<void()> then);
  void on_undecided(const line_undecided& x);
  caf::result<listing_taken> listed(const repo_listing& x);
  void sweep();
  void set_timer();
  void start(const atproto::did& repo, stream_claims::news heard,
             std::function<void()> then);
  void try_start(const atproto::did& repo, const stream_claims::news& heard,
                 std::function<void()> then);
  void claim(const atproto::stamped_frame& x);
  void on_decided(const stream_claim_decided& x);
  void begin_claimed(const stream_claim_decided& x);

  /// Tells the REPO, if its repo is tracked.
  template <class Message>
  void tell(const Message& x) {
    if (tracked_.contains(x.repo))
      repos_.when_awake(x.repo,
                        [this, x](const repo_actor& to) { send(to, x); });
  }

  /// Passes the request on; the REPO answers it.
  template <class Reply, class Request>
  caf::result<Reply> pass_on(const Request& x) {
    auto promise = make_response_promise<Reply>();
    auto owed = std::make_shared<owed_answer<Reply>>(promise);
    repos_.when_awake(x.repo, [owed, x](const repo_actor& to) {
      owed->pass_on(to, x);
    });
    return promise;
  }

  metric& claims_counter(const char* result) {
    return shared_->metrics.counter(
      "weir_stream_claims_total",
      "Untracked DIDs that streams of PDSs named, by what became of them",
      "result", result);
  }

  context_ptr shared_;
  home_ptr home_;
  size_t shard_; ///< Its number among the ROUTERs of its partition, from 0.
  tracking_machine tracking_;
  tracked_repos tracked_;
  awake_repos repos_;
  repo_commands::queue waiting_;
  listing_gate<std::function<void()>> lines_;
  stream_claims claims_;
  repo_commands commands_{this, repos_, tracked_, claims_, waiting_};
  metric& claims_confirmed_ = claims_counter("confirmed");
  metric& claims_failed_ = claims_counter("failed");
  metric& claims_dropped_ = claims_counter("dropped");
  actor_timer timer_;
};

void router::take(frames batch) {
  const auto waited = waiting_.has_frames();
  const auto wakes = [this](const atproto::stamped_frame& x) {
    return !repos_.contains(x.repo)
           && tracking_machine::is_for_repo(tracking_.judge(x, tracked_));
  };
  route(waiting_.take(std::move(batch), repos_.size(), wakes));
  take_waiting();
  if (!waited && waiting_.has_frames())
    set_timer();
}

void router::take_waiting() {
  while (auto frame = waiting_.next_frame(repos_.size())) {
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
    repos_.deliver(did, std::move(by_repo[did]));
  dropped.tell(this, *shared_);
}

bool router::wanted(const atproto::stamped_frame& x) {
  const auto next = tracking_.judge(x, tracked_, &claims_);
  if (next == discovery::add)
    start(x.repo, {}, [] {});
  else if (next == discovery::claim)
    claim(x);
  else if (next == discovery::ask)
    send(shared_->supervisor, stream_claim{x.at.upstream, x.repo, true});
  return tracking_machine::is_for_repo(next);
}

/// @param heard What frames that are finished have stated.
/// @param then Runs when the repo is durably tracked, unless the addition fails
///        at once.
void router::start(const atproto::did& repo, stream_claims::news heard,
                   std::function<void()> then) {
  heard.look_up |= claims_.forget(repo);
  tracked_.begin_addition(repo);
  try_start(repo, heard, std::move(then));
}

/// Adding a repo that exists changes nothing, so a failed addition is repeated:
/// its frames come again, too, and must not be dropped.
void router::try_start(const atproto::did& repo,
                       const stream_claims::news& heard,
                       std::function<void()> then) {
  repos_.when_awake(repo, [=, this](const repo_actor& to) {
    request(to, caf::infinite,
            add_repos{{repo}, {}, heard.look_up, heard.least})
      .then(
        [=, this](const add_result&) {
          tracked_.end_addition(repo, true);
          then();
        },
        [=, this](caf::error&) {
          try_start(repo, heard, [] {});
          then(); // Its messages to the repo come after the addition.
        });
  });
}

/// Answers when the changes that the lines caused are durable.
caf::result<listing_taken> router::listed(const repo_listing& x) {
  auto promise = make_response_promise<listing_taken>();
  const auto all = std::make_shared<gather>([promise](const caf::error&) mutable {
    promise.deliver(listing_taken{});
  });
  for (const auto& line : x.repos) {
    const auto next = tracking_machine::judge(line, tracked_, x.discover);
    if (next == discovery::nothing)
      continue;
    const auto tell = [this, line, all] {
      lines_.add(line.upstream, [=, this] {
        give_line(line, [all] { all->answered(); });
      });
    };
    all->expect();
    if (next == discovery::deliver)
      tell();
    else
      commands_.admit(line.repo, [=, this](const repo_actor&) {
        start(line.repo, {}, [=, this] {
          commands_.done();
          next == discovery::add ? tell() : all->answered();
          begin_lines();
        });
      });
  }
  begin_lines();
  all->answered();
  return promise;
}

void router::begin_lines() {
  while (auto line = lines_.next())
    (*line)();
}

void router::give_line(const repo_listed& line, std::function<void()> then) {
  auto answered = [this, upstream = line.upstream, then = std::move(then)] {
    lines_.answered(upstream);
    then();
    commands_.done();
    begin_lines();
  };
  commands_.admit(line.repo, [=, this](const repo_actor& to) {
    request(to, caf::infinite, line)
      .then([answered](const listing_taken&) { answered(); },
            [answered](caf::error&) { answered(); });
  });
}

void router::on_undecided(const line_undecided& x) {
  if (x.open)
    lines_.keep_awake(x.repo, x.upstream);
  else
    lines_.release(x.repo);
  begin_lines();
}

void router::tell_lost() {
  waiting_.forget_frames(); // These frames come again as well, in order.
  for (const auto& upstream : shared_->all_upstreams())
    send(upstream, frames_lost{});
}

void router::sweep() {
  repos_.sweep();
  take_waiting();
  set_timer();
}

void router::set_timer() {
  const auto now = shared_->time->steady_now();
  const auto tries = waiting_.has_frames() ? limits::held_tries_per_sweep : 1;
  timer_.arm(this, now, now + limits::repo_sweep_interval / tries);
}

void router::claim(const atproto::stamped_frame& x) {
  using step = stream_claims::step;
  const auto next = claims_.claim(x, shared_->time->steady_now());
  if (next == step::drop)
    claims_dropped_.add();
  else if (next != step::wait)
    send(shared_->supervisor,
         stream_claim{x.at.upstream, x.repo, next == step::ask_anew});
}

void router::on_decided(const stream_claim_decided& x) {
  if (x.what == stream_claim_decided::outcome::confirmed) {
    claims_confirmed_.add();
    if (claims_.confirm(x.upstream, x.repo, x.anew))
      commands_.admit(x.repo,
                      [this, x](const repo_actor&) { begin_claimed(x); });
    return;
  }
  const auto failed = x.what == stream_claim_decided::outcome::failed;
  (failed ? claims_failed_ : claims_dropped_).add();
  finished_frames out;
  if (const auto charged = claims_.drop(x.upstream, x.repo, failed))
    out.refuse(*charged);
  out.tell(this, *shared_);
}

/// The repo may have been added meanwhile, or have gone away.
void router::begin_claimed(const stream_claim_decided& x) {
  const auto heard = claims_.begin(x.upstream, x.repo);
  if (!heard || tracked_.contains(x.repo))
    return commands_.done();
  start(x.repo, *heard, [this] { commands_.done(); });
}

router::behavior_type router::make_behavior() {
  set_down_handler([this](caf::down_msg& x) {
    if (const auto repo = repos_.on_down(x))
      on_undecided({*repo});
  });
  set_timer();
  return {
    [this](frame_batch& x) { take(std::move(x.frames)); },
    [this](tick x) {
      if (timer_.fired(x))
        sweep();
    },
    [this](stop_actor) { quit(); },
    [this](get_status) {
      return status(
        {{"awake", repos_.size()}, {"frames_wait", waiting_.has_frames()}},
        std::to_string(home_->number) + "." + std::to_string(shard_));
    },
    [this](const repo_passive& x) {
      if (repos_.on_passive(x))
        take_waiting();
    },
    [this](const repo_removed& x) { tracked_.learn(x.repo, false); },
    [this](const journal_fenced& x) {
      if (repos_.on_fenced(x))
        tell_lost();
    },
    [this](const journal_noted& x) {
      if (repos_.on_noted(x))
        tell_lost();
    },
    [this](const line_undecided& x) { on_undecided(x); },
    [this](const stream_claim_decided& x) { on_decided(x); },
    [this](const stream_claims_rest& x) {
      claims_dropped_.add(claims_.rest(x.upstream, x.until));
    },
    [this](const add_repos& x) -> caf::result<add_result> {
      return commands_.forward_all<add_result>(x, &add_result::queued);
    },
    [this](const remove_repos& x) -> caf::result<remove_result> {
      return commands_.forward_all<remove_result>(x, &remove_result::removed);
    },
    [this](const resync_repos& x) -> caf::result<resync_result> {
      return commands_.forward_all<resync_result>(x, &resync_result::queued);
    },
    [this](const repo_listing& x) { return listed(x); },
    [this](const begin_fetch& x) { return pass_on<job_ended>(x); },
    [this](const attend_repo& x) { return pass_on<repo_attended>(x); },
    [this](const account_said& x) { tell(x); },
    [this](const repo_incomplete& x) { tell(x); },
    [this](const account_unasked& x) { tell(x); },
  };
}

} // namespace

router_actor spawn_router(caf::actor_system& system, context_ptr shared,
                          home_ptr home, router_options options,
                          tracked_set tracked, repo_factory make_repo) {
  return system.spawn<router>(std::move(shared), std::move(home),
                              std::move(options), std::move(tracked),
                              std::move(make_repo));
}

} // namespace weir::actors
