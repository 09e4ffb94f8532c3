#pragma once

#include "actors/identity/limits.hpp"
#include "actors/identity/lookup_lane.hpp"
#include "actors/identity/lookup_pace.hpp"
#include "actors/support/site.hpp"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

namespace weir::actors {

/// Look-ups that wait for their turn. They share one budget but have two lanes:
/// one for the directory and one for the hosts of did:web names. Each has
/// places of its own, so that hosts that hang do not delay the directory, nor
/// the reverse.
///
/// While both lanes wait, did:web names have `limits::web_part` of the budget.
/// The directory's own answers also limit its part (`lookup_pace`).
class lookup_queue {
public:
  /// @param in_flight_max Look-ups at the directory at a time; did:web names
  /// have `limits::web_part` of this number in addition.
  /// @param waiting_max Look-ups that wait or are in flight, likewise.
  lookup_queue(double per_second, size_t in_flight_max,
               size_t waiting_max = limits::identity_waiting_max)
    : budget_(per_second, per_second),
      share_(per_second / limits::web_part, per_second / limits::web_part),
      pace_(per_second),
      directory_(per_second * limits::retry_share, in_flight_max,
                 std::max<size_t>(waiting_max, 1)),
      web_(per_second * limits::retry_share / limits::web_part,
           std::max<size_t>(in_flight_max / limits::web_part, 1),
           std::max<size_t>(waiting_max / limits::web_part, 1)) {}

  /// @param host The host that the look-up is counted for.
  /// @pre it neither waits nor is being looked up
  lookup_lane::entry push(const atproto::did& repo, lookup_cause cause,
                          const std::string& host = {}) {
    return lane_of(repo).push({repo, cause}, host);
  }

  /// This host also needs the look-up, if it waits.
  void share(const atproto::did& repo, const std::string& host) {
    lane_of(repo).share(repo, host);
  }

  /// The look-up, if it waits, is not needed any more.
  void drop(const atproto::did& repo) { lane_of(repo).drop(repo); }

  /// Counts another request to the directory against the same budget.
  void spend(steady_time now) noexcept {
    budget_.charge(now, 1, 1);
    pace_.take(now);
  }

  /// Counts a probe of the directory, unless one was counted since the last
  /// look-up began: with few look-ups a second, probes would take all of them.
  void spend_probe(steady_time now) noexcept {
    if (!std::exchange(probed_, true))
      spend(now);
  }

  /// Takes the next look-up, which is under way from now on.
  std::optional<atproto::did> next(steady_time now) {
    if (budget_.delay(now).count() != 0)
      return std::nullopt;
    auto x = take(now);
    if (!x)
      return std::nullopt;
    budget_.take(now);
    probed_ = false;
    running_.emplace(x->repo, running{x->cause, now});
    return std::move(x->repo);
  }

  /// A look-up ended.
  void done(const atproto::did& repo, const lookup_outcome& how,
            steady_time now) {
    const auto x = running_.extract(repo).mapped();
    lane_of(repo).end(x.cause, how.succeeded, now);
    if (!document_is_foreign(repo))
      pace_.end(how, x.began, now);
  }

  /// The directory limits us: nothing is asked of it for this time.
  void rest_directory(std::chrono::seconds asked, steady_time now) noexcept {
    pace_.rest(asked, now);
  }

  /// How many look-ups the directory gets.
  const lookup_pace& pace() const noexcept { return pace_; }

  /// @returns when `next` may have one; none: not before the next `done`.
  std::optional<steady_time> due(steady_time now) const {
    auto a = directory_.due(now);
    if (a)
      a = std::max(*a, pace_.next(now));
    const auto b = web_.due(now);
    if (!a && !b)
      return std::nullopt;
    const auto first = a && b ? std::min(*a, *b) : a ? *a : *b;
    return std::max(first, now + budget_.delay(now));
  }

  /// Look-ups that wait or are under way.
  size_t size() const noexcept { return directory_.size() + web_.size(); }

  /// Hosts with waiting look-ups.
  size_t hosts() const noexcept { return directory_.hosts() + web_.hosts(); }

private:
  struct running {
    lookup_cause cause = lookup_cause::again;
    steady_time began;
  };

  lookup_lane& lane_of(const atproto::did& repo) noexcept {
    return document_is_foreign(repo) ? web_ : directory_;
  }

  /// Takes from the lane whose share is due, otherwise from any that waits.
  std::optional<queued_lookup> take(steady_time now) {
    if (share_.level(now) >= 1)
      if (auto x = web_.take(now)) {
        share_.take(now);
        return x;
      }
    if (pace_.next(now) <= now)
      if (auto x = directory_.take(now)) {
        pace_.take(now);
        return x;
      }
    return web_.take(now);
  }

  token_bucket budget_; ///< A second's worth of look-ups, one at least.
  token_bucket share_;  ///< Part of it for did:web names while others wait.
  lookup_pace pace_;    ///< Part of it that the directory can take.
  lookup_lane directory_;
  lookup_lane web_;
  std::unordered_map<atproto::did, running> running_;
  bool probed_ = false; ///< A probe was counted since the last one began.
};

} // namespace weir::actors
