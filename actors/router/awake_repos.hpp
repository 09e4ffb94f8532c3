#pragma once

#include "actors/router/router.hpp"

#include <caf/typed_event_based_actor.hpp>

#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

namespace weir::actors {

/// The REPOs of a ROUTER: makes, closes, fences and replaces them as
/// `resident_machine` decides, and passes work to them, which waits while they
/// cannot take it.
///
/// The ROUTER owns this object and uses it on its own thread.
class awake_repos {
public:
  using frames = std::vector<atproto::stamped_frame>;

  awake_repos(router_actor::base* self, context_ptr shared, home_ptr partition,
              resident_options options, repo_factory make_repo)
    : self_(self), shared_(std::move(shared)), home_(std::move(partition)),
      make_repo_(std::move(make_repo)), residents_(options) {}

  size_t size() const noexcept { return residents_.size(); }

  bool contains(const atproto::did& repo) {
    return residents_.find(repo) != nullptr;
  }

  /// The frames of a parked repo are given up.
  void deliver(const atproto::did& repo, frames batch);

  /// Runs now, or when the successor of a closing or dead REPO exists.
  void when_awake(const atproto::did& repo,
                  std::function<void(const repo_actor&)> run);

  /// @returns whether the REPO is gone, so that there is room.
  bool on_passive(const repo_passive& x);

  /// @returns the repo whose REPO died.
  std::optional<atproto::did> on_down(const caf::down_msg& x);

  /// @returns whether frames that the dead REPO had must be read again; so does
  /// `on_fenced`.
  bool on_noted(const journal_noted& x);
  bool on_fenced(const journal_fenced& x);

  /// Closes idle REPOs, those that are too many, and ends the parking of repos.
  void sweep();

  /// Stops all REPOs, since only this knows them: one that waits for an answer
  /// or a timer would keep the process alive.
  void stop();

private:
  /// A REPO, and the work that waits until it is awake.
  struct home {
    repo_actor handle;
    std::vector<atproto::stamped_frame> stash;
    std::vector<std::function<void()>> later; ///< Commands that wait.

    bool has_work() const noexcept { return !stash.empty() || !later.empty(); }
  };

  using residents = resident_machine<home>;
  using phase = resident_phase;

  residents::resident& wake(const atproto::did& repo);
  void spawn(const atproto::did& repo, home& x);
  void resume(home& x);
  void close(const residents::closing& x, bool must_yield);
  void fence(const atproto::did& repo);
  void give_up(const frames& batch);

  router_actor::base* self_;
  context_ptr shared_;
  home_ptr home_;
  repo_factory make_repo_;
  residents residents_;
  std::unordered_map<caf::actor_addr, atproto::did> by_address_;
  /// The JOURNAL's last answer; no fence of this shard is above it.
  uint64_t incarnation_ = 0;
};

} // namespace weir::actors
