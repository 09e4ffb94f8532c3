#pragma once

#include "actors/identity/lookup_turns.hpp"
#include "base/token_bucket.hpp"

#include <algorithm>
#include <optional>
#include <string>

namespace weir::actors {

struct queued_lookup {
  atproto::did repo;
  lookup_cause cause = lookup_cause::again;
};

/// Look-ups of one kind: those that wait, in rounds of their causes and turns
/// of their hosts, and the number of those under way. No clock, no network.
class lookup_lane {
public:
  /// What became of a new look-up.
  struct entry {
    bool taken = false;
    /// The one that lost its place to it.
    std::optional<atproto::did> displaced;
  };

  /// @param retries_per_second Look-ups of DIDs that failed before.
  /// @param places Look-ups under way at a time.
  /// @param most Look-ups that wait or are under way.
  lookup_lane(double retries_per_second, size_t places, size_t most)
    : places_(places), most_(most),
      retries_(retries_per_second, retries_per_second) {}

  /// Takes a look-up while there is room. Otherwise it displaces one of the
  /// host with the most waiting look-ups.
  /// @pre the DID neither waits nor is under way
  entry push(const queued_lookup& x, const std::string& host) {
    entry out;
    if (size() >= most_) {
      out.displaced = waiting_.displace(x.cause, host);
      if (!out.displaced)
        return out;
    }
    waiting_.add(x.repo, x.cause, host);
    out.taken = true;
    return out;
  }

  /// This host also needs the look-up, if it waits.
  void share(const atproto::did& repo, const std::string& host) {
    waiting_.share(repo, host);
  }

  /// Removes a look-up, if it waits.
  void drop(const atproto::did& repo) { waiting_.drop(repo); }

  /// Begins the next look-up in turn. None while all places are taken.
  std::optional<queued_lookup> take(steady_time now) {
    if (running_ >= places_)
      return std::nullopt;
    const auto may = [&](lookup_cause cause) {
      return !waiting_.empty(cause)
             && (cause != retry || retries_.level(now) >= 1);
    };
    auto cause = round[turn_ % round.size()];
    if (!may(cause)) {
      const auto other = std::find_if(causes.begin(), causes.end(), may);
      if (other == causes.end())
        return std::nullopt;
      cause = *other;
    }
    ++turn_;
    ++running_;
    if (cause == retry)
      retries_.take(now);
    return queued_lookup{*waiting_.take(cause), cause};
  }

  /// A look-up ended. A successful retry does not count against the share of
  /// retries, so that all are made soon when a directory works again.
  void end(lookup_cause cause, bool succeeded, steady_time now) {
    --running_;
    if (succeeded && cause == retry)
      retries_.charge(now, -1, 0);
  }

  /// @returns when `take` has one; none: not before one under way ends.
  std::optional<steady_time> due(steady_time now) const {
    if (running_ >= places_)
      return std::nullopt;
    for (const auto cause : causes)
      if (cause != retry && !waiting_.empty(cause))
        return now;
    if (!waiting_.empty(retry))
      return now + retries_.delay(now);
    return std::nullopt;
  }

  /// Look-ups that wait or are under way.
  size_t size() const noexcept { return running_ + waiting_.size(); }

  /// Hosts with waiting look-ups.
  size_t hosts() const noexcept { return waiting_.hosts(); }

private:
  using enum lookup_cause;

  /// One round of causes. When no DID of the cause in turn waits, the first
  /// cause with a waiting DID is taken.
  static constexpr std::array round{rotation, newcomer, rotation, newcomer,
                                    again,    rotation, newcomer, retry};
  static constexpr std::array causes{rotation, newcomer, again, retry};

  size_t places_;
  size_t most_;
  size_t running_ = 0;
  token_bucket retries_;
  lookup_turns waiting_;
  size_t turn_ = 0;
};

} // namespace weir::actors
