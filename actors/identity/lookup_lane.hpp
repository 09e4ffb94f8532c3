#pragma once

#include "actors/identity/lookup_turns.hpp"
#include "base/token_bucket.hpp"

#include <optional>
#include <string>

namespace weir::actors {

struct queued_lookup {
  atproto::did repo;
  lookup_cause cause = lookup_cause::again;
};

/// Look-ups of one kind: who waits, in rounds of their causes and turns of
/// their hosts, and how many are under way. No clock, no network.
class lookup_lane {
public:
  /// What became of one that came.
  struct entry {
    bool taken = false;
    std::optional<atproto::did> displaced; ///< Lost its place for it.
  };

  /// @param retries_per_second Look-ups that failed before.
  /// @param places Look-ups under way at a time.
  /// @param most Look-ups that wait or are under way.
  lookup_lane(double retries_per_second, size_t places, size_t most);

  /// Takes one, as long as there is room. Without, it displaces one of the host
  /// that has most of those that wait.
  /// @pre it neither waits nor is under way
  entry push(const queued_lookup& x, const std::string& host);

  /// Of those that wait: this host wants it, too.
  void share(const atproto::did& repo, const std::string& host) {
    waiting_.share(repo, host);
  }

  /// It waits no more. Returns false when it did not.
  bool drop(const atproto::did& repo) { return waiting_.drop(repo); }

  /// Whose turn it is: a look-up that is under way from now on. None while all
  /// places are taken.
  std::optional<queued_lookup> take(steady_time now);

  /// A look-up is over. One that succeeds costs the share of retries nothing,
  /// so that all are made soon when a directory is back.
  void end(lookup_cause cause, bool succeeded, steady_time now);

  /// When `take` has somebody, unless one ends before; none: not before that.
  std::optional<steady_time> due(steady_time now) const;

  /// That wait or are under way.
  size_t size() const noexcept { return running_ + waiting_.size(); }

  /// For whom somebody waits.
  size_t hosts() const noexcept { return waiting_.hosts(); }

private:
  size_t places_;
  size_t most_;
  size_t running_ = 0;
  token_bucket retries_;
  lookup_turns waiting_;
  size_t turn_ = 0;
};

} // namespace weir::actors
