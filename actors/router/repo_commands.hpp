#pragma once

#include "actors/router/awake_repos.hpp"
#include "actors/router/stream_claims.hpp"
#include "actors/router/wake_machine.hpp"
#include "actors/support/gather.hpp"
#include "messages/backfill.hpp"

#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

namespace weir::actors {

/// The commands of a ROUTER for its REPOs, in the order and the number that
/// `wake_machine` allows. A request for many repos is one command for each.
///
/// The ROUTER owns this object and uses it on its own thread.
class repo_commands {
public:
  struct command {
    atproto::did repo;
    std::function<void(const repo_actor&)> run;
  };

  using queue = wake_machine<command>;

  /// @param waiting The frames that wait are in there as well.
  repo_commands(router_actor::base* self, awake_repos& repos,
                tracked_repos& tracked, stream_claims& claims, queue& waiting)
    : self_(self), repos_(repos), tracked_(tracked), claims_(claims),
      waiting_(waiting) {}

  /// Runs the command when it may wake the REPO. Whoever admits it calls `done`
  /// when it is answered.
  void admit(const atproto::did& repo,
             std::function<void(const repo_actor&)> run) {
    waiting_.add({repo, std::move(run)});
    begin();
  }

  /// A command was answered, so the next one may begin.
  void done() {
    waiting_.done();
    begin();
  }

  /// Sends one command to the REPO of each DID and adds up the answers. When
  /// one command fails, the whole request fails, since the sum would be too
  /// small.
  template <class Reply, class Request>
  caf::result<Reply> forward_all(const Request& x, uint32_t Reply::*count) {
    auto promise = self_->template make_response_promise<Reply>();
    const auto total = std::make_shared<Reply>();
    const auto all = std::make_shared<gather>(
      [promise, total](const caf::error& failed) mutable {
        failed ? promise.deliver(failed) : promise.deliver(*total);
      });
    auto blank = std::make_shared<Request>(x);
    blank->repos.clear();
    for (const auto& repo : x.repos) {
      if (!std::is_same_v<Request, add_repos> && !tracked_.contains(repo))
        continue;
      all->expect();
      admit(repo, [=, this](const repo_actor& to) {
        auto one = *blank;
        one.repos.push_back(repo);
        forward(to, std::move(one), total, count, all);
      });
    }
    all->answered();
    return promise;
  }

private:
  void begin() {
    while (auto x = waiting_.next_command(repos_.size()))
      repos_.when_awake(x->repo, std::move(x->run));
  }

  /// Sends the command for one DID.
  template <class Reply, class Request>
  void forward(const repo_actor& to, Request one,
               const std::shared_ptr<Reply>& total, uint32_t Reply::*count,
               const std::shared_ptr<gather>& all) {
    constexpr auto adds = std::is_same_v<Request, add_repos>;
    constexpr auto changes = adds || std::is_same_v<Request, remove_repos>;
    const auto repo = one.repos.front();
    if constexpr (adds) {
      // No earlier, because the repo's frames come after this command.
      tracked_.begin_addition(repo);
      one.look_up = claims_.forget(repo);
    }
    self_->request(to, caf::infinite, std::move(one))
      .then(
        [=, this](const Reply& y) {
          if (adds)
            tracked_.end_addition(repo, true);
          (*total).*count += y.*count;
          all->answered();
          done();
        },
        [=, this](const caf::error& why) {
          if (changes)
            ask_successor(repo, adds);
          all->failed(why);
          done();
        });
  }

  /// A command failed with its REPO: the next one reads what is on disk.
  void ask_successor(const atproto::did& repo, bool of_addition) {
    repos_.when_awake(repo, [=, this](const repo_actor& to) {
      self_->request(to, caf::infinite, ask_tracked{})
        .then(
          [=, this](const tracked_reply& x) {
            if (of_addition)
              tracked_.end_addition(repo, x.tracked);
            else
              tracked_.learn(repo, x.tracked);
          },
          [=, this](caf::error&) { ask_successor(repo, of_addition); });
    });
  }

  router_actor::base* self_;
  awake_repos& repos_;
  tracked_repos& tracked_;
  stream_claims& claims_;
  queue& waiting_;
};

} // namespace weir::actors
