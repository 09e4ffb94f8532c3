#pragma once

#include "base/clock.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

namespace weir::actors {

/// Repos by what has become of their fetches.
struct backfill_counts {
  uint64_t waiting = 0; ///< To be fetched, or being fetched.
  /// How often one became synced: it never falls, so that its growth is that of
  /// the fetches.
  uint64_t synced = 0;
  uint64_t failed = 0; ///< Tried again later.
  /// When the first one began to wait since the story rested; unset: not known.
  std::optional<steady_time> since{};
  std::optional<steady_time> until{}; ///< When one ceased to wait.
  /// Accounts that listings or streams name are being looked up, so that repos are
  /// still to come.
  bool claimed = false;
  /// How often one was synced and is not any more.
  uint64_t fallen = 0;
  /// Fetched under other collections and synced so far: each will wait once its
  /// turn has come.
  uint64_t outdated = 0;

  uint64_t synced_now() const noexcept {
    return synced - fallen;
  }
};

/// What is worth a line in the log.
struct backfill_news {
  enum class what : uint8_t { begun, progress, done };

  what is = what::begun;
  backfill_counts at;
  /// Of the time since the last news; of `done`: of all of it.
  double per_second = 0;
  /// Of `progress`: when nobody waits any more, at that rate.
  std::optional<std::chrono::seconds> left{};
  std::chrono::microseconds took{0}; ///< Of `done`.
};

/// Tells of fetches in the log as a person would: when many begin, how far they
/// are every `limits::story_interval`, and that it is over once nobody has waited
/// for `limits::story_rest`: where look-ups are slow, each repo waits for a moment
/// only, and the next one is still to come. It is over as well when nobody waits and
/// fewer than `limits::story_repos_min` were synced since the last line: somebody new
/// comes every few seconds on a large network. While accounts are being looked up
/// both take `limits::story_claims_rest`: the directory may ask for a minute's pause,
/// and of some accounts there is never an answer. Many that began and ended between
/// two looks are told of as if somebody had seen it. Repos of which few are fetched
/// now and then are told of when it takes long, or together when they rest, the first
/// ones at once; but for those that were synced before, which a large network always
/// has some of. No clock.
class backfill_story {
public:
  std::vector<backfill_news> look(backfill_counts x, steady_time now);

  /// Nobody waits, and nothing is to be told: what comes next begins anew.
  bool rests(const backfill_counts& x) const noexcept {
    return !running_ && x.waiting == 0 && x.synced <= told_.synced;
  }

private:
  std::vector<backfill_news> look_idle(const backfill_counts& x,
                                       steady_time now);
  bool may_tell(steady_time now) const noexcept;
  backfill_news begin(const backfill_counts& x, steady_time now);
  backfill_news end(const backfill_counts& x, steady_time now);
  backfill_news tell(backfill_news::what what, const backfill_counts& x,
                     steady_time now);

  bool running_ = false;
  bool spoke_ = false; ///< Ever.
  steady_time began_;
  steady_time busy_at_;  ///< Somebody waited, or was done with.
  uint64_t ended_ = 0;   ///< Synced or failed, by then.
  std::optional<steady_time> slow_since_; ///< Nobody waits, and few are synced.
  uint64_t synced_before_ = 0; ///< When it began.
  std::optional<steady_time> waits_since_; ///< Somebody, and untold.
  backfill_counts told_;
  std::optional<steady_time> told_at_;
};

} // namespace weir::actors
