#pragma once

#include "actors/router/awake_repos.hpp"
#include "actors/router/listing_gate.hpp"
#include "actors/router/router.hpp"
#include "actors/router/stream_claims.hpp"
#include "actors/router/wake_machine.hpp"
#include "actors/support/gather.hpp"
#include "actors/support/observed.hpp"
#include "actors/support/owed_answer.hpp"
#include "actors/support/timer.hpp"
#include "messages/account.hpp"
#include "messages/backfill.hpp"
#include "messages/claims.hpp"
#include "messages/journal.hpp"

#include <caf/typed_event_based_actor.hpp>

#include <functional>

namespace weir::actors {

/// The ROUTER: what becomes of frames, commands and listings. `awake_repos` has
/// its REPOs.
class router final : public observed<router_actor::base> {
public:
  router(caf::actor_config& config, context_ptr shared, home_ptr partition,
         router_options options, tracked_set tracked, repo_factory make_repo)
    : observed(config, "router", turn::full), shared_(std::move(shared)),
      home_(std::move(partition)),
      shard_(shared_->routers().size()
             - shared_->places().first_router(home_->number)),
      options_(std::move(options)),
      tracking_(options_.mode, options_.signal), tracked_(std::move(tracked)),
      repos_(this, shared_, home_, options_.residents, std::move(make_repo)),
      waiting_(options_.residents.resident_max),
      lines_(options_.residents.resident_max) {}

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
  struct command {
    atproto::did repo;
    std::function<void(const repo_actor&)> run;
  };

  using frames = wake_machine<command>::frames;

  void take(frames batch);
  void take_waiting();
  void route(frames batch);
  bool wanted(const atproto::stamped_frame& x);
  bool wakes(const atproto::stamped_frame& x);

  void tell_lost();
  void admit(const atproto::did& repo,
             std::function<void(const repo_actor&)> run);
  void begin_commands();
  void command_done();
  void begin_lines();
  void give_line(const repo_listed& line, std::function<void()> then);
  void on_doubt(const listing_doubt& x);
  caf::result<listing_taken> listed(const repo_listing& x);
  void sweep();
  void start(const atproto::did& repo, stream_claims::news heard,
             std::function<void()> then);
  void try_start(const atproto::did& repo, const stream_claims::news& heard,
                 std::function<void()> then);
  void ask_successor(const atproto::did& repo, bool of_addition);
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

  template <class Reply, class Request>
  caf::result<Reply> forward_all(const Request& x, uint32_t Reply::*count);
  template <class Reply, class Request, class Add>
  void forward(const repo_actor& to, Request one, const Add& add,
               const std::shared_ptr<gather>& all);

  metric& claims_counter(const char* result) {
    return shared_->metrics.counter(
      "weir_stream_claims_total",
      "Untracked DIDs that streams of PDSs named, by what became of them",
      "result", result);
  }

  context_ptr shared_;
  home_ptr home_;
  size_t shard_; ///< Its number among the ROUTERs of its partition, from 0.
  router_options options_;
  tracking_machine tracking_;
  tracked_repos tracked_;
  awake_repos repos_;
  wake_machine<command> waiting_;
  listing_gate<std::function<void()>> lines_;
  stream_claims claims_;
  metric& claims_confirmed_ = claims_counter("confirmed");
  metric& claims_failed_ = claims_counter("failed");
  metric& claims_dropped_ = claims_counter("dropped");
  actor_timer timer_;
};

} // namespace weir::actors
