#pragma once

#include "actors/router/router.hpp"
#include "actors/support/observed.hpp"
#include "actors/support/restart_policy.hpp"
#include "actors/support/timer.hpp"
#include "messages/backfill.hpp"
#include "messages/journal.hpp"

#include <caf/typed_event_based_actor.hpp>

#include <functional>
#include <list>
#include <unordered_map>
#include <vector>

namespace weir::actors {

/// The ROUTER itself: router.cpp routes, router_residents.cpp keeps the REPOs.
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
  /// has shut its late updates out. `parked`: it died too often; for a while
  /// its frames are given up, so that they do not hold the others.
  enum class phase : uint8_t { awake, closing, fencing, parked };

  struct resident {
    repo_actor handle;
    phase at = phase::awake;
    std::vector<atproto::stamped_frame> stash;
    std::vector<std::function<void()>> later; ///< Commands, until awake.
    steady_time used; ///< Parked: since then.
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
  void set_phase(resident& x, phase to);
  void make_room();
  void give_up(const frames& batch);
  void resume(resident& x);
  void when_awake(const atproto::did& repo,
                  std::function<void(const repo_actor&)> run);
  void on_passive(const repo_passive& x);
  void on_repo_down(const caf::down_msg& x);
  void on_fenced(const journal_fenced& x);
  caf::result<repo_status_reply> status(const repo_status_request& x);
  caf::result<listing_taken> listed(const repo_listing& x);
  void sweep();
  void close(resident& x);
  void start(const atproto::did& repo, std::function<void()> then = [] {});

  template <class Reply, class Request>
  caf::result<Reply> forward_all(const Request& x, uint32_t Reply::*count);

  context_ptr shared_;
  router_options options_;
  tracked_set tracked_;
  repo_factory make_repo_;
  resident_map residents_;
  std::unordered_map<caf::actor_addr, atproto::did> by_address_;
  std::list<atproto::did> lru_; ///< Most recent first.
  size_t closing_ = 0;          ///< Residents in that phase.
  std::unordered_map<atproto::did, restart_policy> deaths_; ///< Of late.
  std::unordered_map<atproto::did, uint64_t> incarnations_;
  actor_timer timer_;
};

} // namespace weir::actors
