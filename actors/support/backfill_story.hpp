#pragma once

#include "actors/support/store_stats.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

namespace weir::actors {

/// Numbers of repos by the state of their fetches.
struct backfill_counts {
  uint64_t waiting = 0; ///< Repos that wait for a fetch, or are fetched.
  /// Number of times a repo became synced. It never falls, so its growth is the
  /// number of finished fetches.
  uint64_t synced = 0;
  uint64_t failed = 0; ///< They will be tried again later.
  /// The time when the first repo began to wait since the story rested; unset:
  /// it is not known.
  std::optional<steady_time> since{};
  std::optional<steady_time> until{}; ///< When a repo last stopped waiting.
  /// Accounts that listings or streams name are being looked up, so more repos
  /// may follow.
  bool claimed = false;
  /// Number of times a repo was synced and is not any more.
  uint64_t fallen = 0;
  /// Synced, but indexed under other collections: each will wait for a fetch
  /// when its turn comes.
  uint64_t outdated = 0;

  uint64_t synced_now() const noexcept { return synced - fallen; }

  /// Adds the numbers of one store. A repo that falls out of sync meanwhile is
  /// not counted twice, because `fallen` is read before `synced`.
  void add(const store_stats& x) noexcept {
    const auto fell = x.fallen.load();
    fallen += fell;
    waiting += x.waiting();
    synced += x.count(storage::repo_status::synced) + fell;
    failed += x.count(storage::repo_status::error);
    outdated += x.outdated;
    if (const steady_time at{x.waits_since}; at != steady_time{})
      since = std::min(at, since.value_or(at));
    if (const steady_time at{x.waited_until}; at != steady_time{})
      until = std::max(at, until.value_or(at));
  }
};

/// An event that deserves a line in the log.
struct backfill_news {
  enum class what : uint8_t { begun, progress, done };

  what is = what::begun;
  backfill_counts at;
  /// Repos a second since the last line; for `done`: over the whole time.
  double per_second = 0;
  /// The time until no repo waits, at that rate (`progress`).
  std::optional<std::chrono::seconds> left{};
  std::chrono::microseconds took{0}; ///< Set for `done`.
};

/// Decides which lines about fetches are logged, as a person would report them:
/// that many fetches begin, every `limits::story_interval` how far they are,
/// and that they are over.
///
/// # The end
/// A backfill is over when no repo has waited for `limits::story_rest`. With
/// slow look-ups each repo waits only for a moment while others are still to
/// come. It is also over when no repo waits and fewer than
/// `limits::story_repos_min` were synced since the last line: on a large
/// network a new account appears every few seconds. While accounts are being
/// looked up, both take `limits::story_claims_rest`, because the directory may
/// ask for a minute's pause, and some accounts never get an answer.
///
/// # Few repos
/// Many fetches that began and ended between two calls are reported as if they
/// had been seen. When few repos are fetched now and then, they are reported
/// when a fetch takes long, or together when they rest; the first ones at once.
/// Repos that were synced before are not reported then, because a large network
/// always has some of them. No clock.
class backfill_story {
public:
  std::vector<backfill_news> look(backfill_counts x, steady_time now);

  /// Sets numbers of a store back after `look`, which got `x` and returned
  /// `news`. Repos that are still outdated at the end were removed or are
  /// inactive. When no repo waits and nothing is left to report, the next fetch
  /// begins a new story.
  void set_back(store_stats& of, const backfill_counts& x,
                const std::vector<backfill_news>& news) const noexcept {
    if (!news.empty() && news.back().is == backfill_news::what::done)
      of.outdated = 0;
    if (!running_ && x.waiting == 0 && x.synced <= last_.synced)
      of.waits_since = 0;
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
  bool spoke_ = false; ///< Whether any line was ever logged.
  steady_time began_;
  steady_time busy_at_; ///< When a repo last waited or ended.
  uint64_t ended_ = 0;  ///< Synced or failed repos at that time.
  /// Set while no repo waits and few are synced.
  std::optional<steady_time> slow_since_;
  uint64_t synced_before_ = 0; ///< Value of `synced` when the story began.
  /// The time since which an unreported repo waits.
  std::optional<steady_time> waits_since_;
  backfill_counts last_; ///< What was last logged, or needs no line.
  std::optional<steady_time> last_at_;
};

} // namespace weir::actors
