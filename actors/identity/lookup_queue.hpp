#pragma once

#include "actors/identity/limits.hpp"
#include "actors/identity/lookup_lane.hpp"
#include "actors/identity/lookup_pace.hpp"

#include <optional>
#include <unordered_map>

namespace weir::actors {

/// Look-ups that wait for their turn. They share one budget but have two lanes:
/// one for the directory and one for the hosts of did:web names. Each lane has
/// places of its own, so that hosts that hang do not delay the directory, nor
/// the reverse. No clock, no network.
///
/// While both lanes wait, did:web names have `limits::web_part` of the budget.
/// The directory's own answers also limit its part (`lookup_pace`).
class lookup_queue {
public:
  /// @param in_flight_max Look-ups at the directory at a time; did:web names
  /// have `limits::web_part` of this number in addition.
  /// @param waiting_max The same for look-ups that wait or are in flight.
  lookup_queue(double per_second, size_t in_flight_max,
               size_t waiting_max = limits::identity_waiting_max);

  /// @param host The host that the look-up is counted for.
  /// @pre it neither waits nor is being looked up
  lookup_lane::entry push(const atproto::did& repo, lookup_cause cause,
                          const std::string& host = {});

  /// If it waits: this host also needs it.
  void share(const atproto::did& repo, const std::string& host);

  /// The look-up is not needed any more. Returns false when it does not wait.
  bool drop(const atproto::did& repo) { return lane_of(repo).drop(repo); }

  /// Counts another request to the directory against the same budget.
  void spend(steady_time now) noexcept {
    budget_.charge(now, 1, 1);
    pace_.take(now);
  }

  /// Takes the next look-up, which is under way from now on.
  std::optional<atproto::did> next(steady_time now);

  /// A look-up ended.
  void done(const atproto::did& repo, const lookup_outcome& how,
            steady_time now);

  /// The directory limits us: nothing is asked of it for this time.
  void rest_directory(std::chrono::seconds asked, steady_time now) noexcept {
    pace_.rest(asked, now);
  }

  /// Whether the directory limits us and must not be asked yet.
  bool directory_rests(steady_time now) const noexcept {
    return pace_.rests(now);
  }

  std::optional<steady_time> directory_rests_until() const noexcept {
    return pace_.rests_until();
  }

  /// Look-ups a second that the directory gets now.
  double per_second() const noexcept { return pace_.per_second(); }

  /// When `next` may have a look-up without a `done` before; none: not before
  /// that.
  std::optional<steady_time> due(steady_time now) const;

  /// Look-ups that wait or are under way.
  size_t size() const noexcept {
    return directory_.size() + web_.size();
  }

  /// Hosts with waiting look-ups.
  size_t hosts() const noexcept {
    return directory_.hosts() + web_.hosts();
  }

private:
  struct running {
    lookup_cause cause = lookup_cause::again;
    steady_time began;
  };

  lookup_lane& lane_of(const atproto::did& repo) noexcept;
  std::optional<queued_lookup> take(steady_time now);

  token_bucket budget_; ///< A second's worth of look-ups, one at least.
  token_bucket share_;  ///< Part of it for did:web names while others wait.
  lookup_pace pace_;    ///< Part of it that the directory can take.
  lookup_lane directory_;
  lookup_lane web_;
  std::unordered_map<atproto::did, running> running_;
};

} // namespace weir::actors
