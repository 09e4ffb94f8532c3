#pragma once

#include "actors/router/limits.hpp"
#include "actors/support/limits.hpp"
#include "actors/support/restart_policy.hpp"
#include "atproto/identifiers.hpp"
#include "base/clock.hpp"

#include <algorithm>
#include <list>
#include <unordered_map>
#include <vector>

namespace weir::actors {

struct resident_options {
  /// REPOs that are kept alive; beyond that, the least recently used close.
  size_t resident_max = limits::resident_repos_max;
  /// The most REPOs that are asked to close when one wakes.
  size_t close_tries_max = limits::router_close_tries_max;
  std::chrono::microseconds idle_max = limits::repo_idle_max;
};

/// The REPOs that one shard keeps alive when all shards together have this
/// memory.
inline size_t residents_for(uint64_t bytes, size_t shards) noexcept {
  return std::clamp<size_t>(bytes / limits::repo_actor_bytes / shards,
                            limits::residents_min, limits::resident_repos_max);
}

/// The state of a REPO. `fencing`: the actor died, and nothing may write for
/// the repo until the JOURNAL refuses its late updates. `noting`: the actor
/// died too often, and no frame may be given up before the repo's row records
/// that. `parked`: frames are given up for a while, so as not to delay others.
enum class resident_phase : uint8_t { awake, closing, fencing, noting, parked };

/// Decides which REPOs of a shard live. A REPO is woken by work, asked to close
/// when it is idle or when there are too many, fenced and replaced when it
/// dies, and parked when it dies again and again (actors.md, One update of a
/// repo).
///
/// `Home` is the state that the ROUTER keeps for a REPO. Its `has_work()` is
/// true while something waits for the next REPO.
template <class Home>
class resident_machine {
public:
  using phase = resident_phase;

  struct resident {
    Home home;
    phase at = phase::awake;

  private:
    friend class resident_machine;
    /// The time of its last use; for a parked one, when it was parked.
    steady_time used;
    std::list<atproto::did>::iterator lru;
  };

  /// These are asked to close; each ends, or answers that it is busy.
  using closing = std::vector<Home*>;

  /// The result of a REPO's message.
  enum class passed : uint8_t {
    nothing, ///< The REPO is not known, or was not asked.
    awake,   ///< It goes on: deliver what waits for it.
    again,   ///< It ended, and more work came: make the next one.
    gone,    ///< It ended and is forgotten.
  };

  explicit resident_machine(resident_options options) : options_(options) {}

  resident_machine(const resident_machine&) = delete;
  resident_machine& operator=(const resident_machine&) = delete;

  /// Work came for a repo. `fresh`: make a REPO, then close what `make_room`
  /// says.
  struct visit {
    resident& to;
    bool fresh = false;
  };

  visit wake(const atproto::did& repo, steady_time now) {
    const auto [i, fresh] = residents_.try_emplace(repo);
    auto& x = i->second;
    if (fresh)
      x.lru = lru_.insert(lru_.begin(), repo);
    if (x.at != phase::parked)
      touch(x, now);
    return {x, fresh};
  }

  /// The least recently used REPOs, so that `resident_max` stay. One that is
  /// busy answers so and counts as used; until it answers, others are asked.
  closing make_room() {
    closing out;
    for (auto tries = options_.close_tries_max;
         tries > 0 && residents_.size() - closing_ > options_.resident_max;
         --tries) {
      auto& x = residents_.find(lru_.back())->second;
      lru_.splice(lru_.begin(), lru_, x.lru);
      close(x, out);
    }
    return out;
  }

  /// A REPO answered that it ends, or that it is `busy`.
  passed on_passive(const atproto::did& repo, bool busy, steady_time now) {
    const auto i = residents_.find(repo);
    if (i == residents_.end() || (busy && i->second.at != phase::closing))
      return passed::nothing;
    auto& x = i->second;
    if (!busy && !x.home.has_work()) {
      erase(i);
      return passed::gone;
    }
    if (busy)
      touch(x, now);
    set_phase(x, phase::awake);
    return busy ? passed::awake : passed::again;
  }

  /// A REPO died.
  /// @returns the resident, to be fenced or noted by its phase; null: unknown.
  resident* on_died(const atproto::did& repo, steady_time now) {
    auto* x = find(repo);
    if (x == nullptr)
      return nullptr;
    const auto again = deaths_of(repo, now).may_restart(now);
    set_phase(*x, again ? phase::fencing : phase::noting);
    return x;
  }

  /// The row now records that frames are given up.
  /// @returns the resident, parked from now on; null when none was being noted.
  resident* on_noted(const atproto::did& repo, steady_time now) {
    auto* x = change(repo, phase::noting, phase::parked);
    if (x != nullptr)
      touch(*x, now);
    return x;
  }

  /// The dead actor can write nothing any more.
  /// @returns the resident to make anew; null when none was being fenced.
  resident* on_fenced(const atproto::did& repo) {
    return change(repo, phase::fencing, phase::awake);
  }

  struct swept {
    closing close;
    std::vector<atproto::did> fence; ///< They were parked for the whole window.
  };

  /// Closes REPOs that were idle for too long, and revives parked ones.
  swept sweep(steady_time now) {
    swept out;
    for (auto i = lru_.rbegin(); i != lru_.rend(); ++i) {
      auto& x = residents_.find(*i)->second;
      if (now - x.used < options_.idle_max)
        break;
      close(x, out.close);
    }
    for (auto& [repo, x] : residents_)
      if (x.at == phase::parked
          && now - x.used >= limits::repo_restart_window) {
        set_phase(x, phase::fencing);
        out.fence.push_back(repo);
      }
    return out;
  }

  resident* find(const atproto::did& repo) {
    const auto i = residents_.find(repo);
    return i == residents_.end() ? nullptr : &i->second;
  }

  template <class F>
  void for_each(F&& f) {
    for (auto& [repo, x] : residents_)
      f(x.home);
  }

  void clear() {
    residents_.clear();
    lru_.clear();
    closing_ = 0;
  }

  size_t size() const noexcept { return residents_.size(); }

private:
  using resident_map = std::unordered_map<atproto::did, resident>;

  void touch(resident& x, steady_time now) {
    x.used = now;
    lru_.splice(lru_.begin(), lru_, x.lru);
  }

  void set_phase(resident& x, phase to) {
    closing_ -= x.at == phase::closing ? 1 : 0;
    closing_ += to == phase::closing ? 1 : 0;
    x.at = to;
  }

  /// Null when it is not in the first phase.
  resident* change(const atproto::did& repo, phase from, phase to) {
    auto* x = find(repo);
    if (x == nullptr || x->at != from)
      return nullptr;
    set_phase(*x, to);
    return x;
  }

  void close(resident& x, closing& out) {
    if (x.at != phase::awake)
      return;
    set_phase(x, phase::closing);
    out.push_back(&x.home);
  }

  void erase(typename resident_map::iterator i) {
    set_phase(i->second, phase::awake);
    lru_.erase(i->second.lru);
    residents_.erase(i);
  }

  /// Deaths of a repo. When too many repos died lately, all counts begin anew.
  restart_policy& deaths_of(const atproto::did& repo, steady_time now) {
    if (deaths_.size() >= limits::repo_deaths_known_max
        && !deaths_.contains(repo)) {
      std::erase_if(deaths_, [now](const auto& x) {
        return x.second.quiet(now);
      });
      if (deaths_.size() >= limits::repo_deaths_known_max)
        deaths_.clear();
    }
    return deaths_
      .try_emplace(repo, limits::repo_restarts_max, limits::repo_restart_window)
      .first->second;
  }

  resident_options options_;
  resident_map residents_;
  std::list<atproto::did> lru_; ///< The most recently used comes first.
  size_t closing_ = 0;          ///< Residents in the phase `closing`.
  /// The restarts of REPOs that died lately.
  std::unordered_map<atproto::did, restart_policy> deaths_;
};

} // namespace weir::actors
