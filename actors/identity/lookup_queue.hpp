#pragma once

#include "atproto/identifiers.hpp"
#include "base/token_bucket.hpp"

#include <array>
#include <deque>
#include <optional>
#include <string>
#include <unordered_map>

namespace weir::actors {

/// Why an identity is looked up. In each round the first two come before the
/// others.
enum class lookup_cause : uint8_t {
  rotation, ///< Something says that a known document changed.
  newcomer, ///< Nothing is known of it.
  again,    ///< A known document is old, or was read a moment ago.
  retry,    ///< Its last look-up failed.
  last_ = retry
};

/// Look-ups that wait for their turn: the budget of all, shares for each cause,
/// a few at a time for one host of did:web names. No clock, no network.
class lookup_queue {
public:
  lookup_queue(double per_second, size_t in_flight_max);

  /// @pre it neither waits nor is being looked up
  void push(atproto::did repo, lookup_cause cause);

  /// The next one, which is being looked up from now on.
  std::optional<atproto::did> next(steady_time now);

  /// A look-up ended. One that succeeds costs the share of retries nothing, so
  /// that all are made soon when a directory is back.
  void done(const atproto::did& repo, bool succeeded, steady_time now);

  /// When `next` is worth another try without a `done` before; none: not
  /// before that.
  std::optional<steady_time> due(steady_time now) const;

  /// That wait or are being looked up.
  size_t size() const noexcept { return waiting_ + running_.size(); }

private:
  struct waiting_lookup {
    atproto::did repo;
    lookup_cause cause = lookup_cause::again;
  };

  struct web_host {
    size_t running = 0;
    std::deque<waiting_lookup> waiting; ///< Its turn came while it was busy.
  };

  std::deque<waiting_lookup>* choose(steady_time now);
  bool hold_back(waiting_lookup& x);

  size_t in_flight_max_;
  token_bucket budget_;  ///< A second's worth of look-ups, one at least.
  token_bucket retries_; ///< Of it, for those that failed before.
  std::array<std::deque<waiting_lookup>, 4> queues_; ///< By cause.
  size_t turn_ = 0;
  size_t waiting_ = 0;
  std::unordered_map<atproto::did, lookup_cause> running_;
  std::unordered_map<std::string, web_host> hosts_; ///< That are being asked.
};

} // namespace weir::actors
