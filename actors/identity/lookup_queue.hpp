#pragma once

#include "actors/identity/limits.hpp"
#include "actors/identity/lookup_lane.hpp"
#include "actors/identity/lookup_pace.hpp"

#include <optional>
#include <unordered_map>

namespace weir::actors {

/// Look-ups that wait for their turn: one budget, but two lanes, of those at
/// the directory and of those at the hosts of did:web names. Each has places of
/// its own, so that none waits for a host that hangs, however many of those
/// there are, nor for a directory that does. No clock, no network.
///
/// While both wait, did:web names have `limits::web_part` of the budget. How much
/// of it the directory gets is up to its answers, too (`lookup_pace`).
class lookup_queue {
public:
  /// @param in_flight_max At the directory at a time; did:web names have
  ///                      `limits::web_part` of as many beside them.
  /// @param waiting_max The same of those that wait or are in flight.
  lookup_queue(double per_second, size_t in_flight_max,
               size_t waiting_max = limits::identity_waiting_max);

  /// @param host For whom it is looked up.
  /// @pre it neither waits nor is being looked up
  lookup_lane::entry push(const atproto::did& repo, lookup_cause cause,
                          const std::string& host = {});

  /// If it waits: this host wants it, too.
  void share(const atproto::did& repo, const std::string& host);

  /// Nobody needs its look-up any more. Returns false when it does not wait.
  bool drop(const atproto::did& repo) { return lane_of(repo).drop(repo); }

  /// The directory is asked for something else, within the same budget.
  void spend(steady_time now) noexcept {
    budget_.charge(now, 1, 1);
    pace_.take(now);
  }

  /// The next one, which is being looked up from now on.
  std::optional<atproto::did> next(steady_time now);

  /// A look-up ended.
  void done(const atproto::did& repo, const lookup_outcome& how,
            steady_time now);

  /// The directory limits us: it is asked for nothing for so long.
  void rest_directory(std::chrono::seconds asked, steady_time now) noexcept {
    pace_.rest(asked, now);
  }

  /// The directory limits us: nothing is asked of it yet.
  bool directory_rests(steady_time now) const noexcept {
    return pace_.rests(now);
  }

  std::optional<steady_time> directory_rests_until() const noexcept {
    return pace_.rests_until();
  }

  /// Look-ups a second that the directory gets at the moment.
  double per_second() const noexcept { return pace_.per_second(); }

  /// When `next` is worth another try without a `done` before; none: not
  /// before that.
  std::optional<steady_time> due(steady_time now) const;

  /// That wait or are being looked up.
  size_t size() const noexcept {
    return directory_.size() + web_.size();
  }

  /// For whom somebody waits.
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
  token_bucket share_;  ///< Of it, for did:web names while others wait.
  lookup_pace pace_;    ///< Of it, what the directory can take.
  lookup_lane directory_;
  lookup_lane web_;
  std::unordered_map<atproto::did, running> running_;
};

} // namespace weir::actors
