#pragma once

#include "actors/consumer/delivery_lane.hpp"

#include <algorithm>
#include <map>

namespace weir::actors {

/// The connections of a consumer: which one takes the next event, and when a
/// sent event has waited too long for its ack.
class delivery_sessions {
public:
  /// @param options Must outlive this.
  explicit delivery_sessions(const delivery_options& options) noexcept
    : options_(options) {}

  bool empty() const noexcept { return sessions_.empty(); }
  size_t size() const noexcept { return sessions_.size(); }

  /// Events that were sent and not acked.
  size_t in_flight() const noexcept {
    size_t out = 0;
    for (const auto& [id, x] : sessions_)
      out += x.flights.size();
    return out;
  }

  /// @returns whether it is the only connection.
  bool open(session_id id, steady_time now) {
    const auto first = sessions_.empty();
    auto& x = sessions_[id];
    x.id = id;
    x.last_ack = now;
    return first;
  }

  /// @pre none of its events is in flight
  void close(session_id id) { sessions_.erase(id); }

  /// Null when there is no such connection.
  delivery_session* find(session_id id) {
    const auto i = sessions_.find(id);
    return i != sessions_.end() ? &i->second : nullptr;
  }

  /// Returns the connection that takes more and is least behind with acks.
  delivery_session* pick() {
    delivery_session* best = nullptr;
    for (auto& [id, x] : sessions_)
      if (!x.blocked_until
          && (best == nullptr || x.flights.size() < best->flights.size()))
        best = &x;
    return best;
  }

  /// Tries sockets again that took no more a while ago.
  void unblock(steady_time now) {
    for (auto& [id, x] : sessions_)
      if (x.blocked_until && *x.blocked_until <= now)
        x.blocked_until.reset();
  }

  /// An event that has waited too long for its ack; null when there is none.
  const delivery_flight* expired(steady_time now) const {
    for (const auto& [id, x] : sessions_)
      if (!x.flights.empty() && deadline(x) <= now)
        return &x.flights.front();
    return nullptr;
  }

  /// The earliest time for `unblock` or `expired`; none when nothing waits.
  std::optional<steady_time> due() const {
    std::optional<steady_time> out;
    const auto at = [&out](steady_time x) {
      out = out ? std::min(*out, x) : x;
    };
    for (const auto& [id, x] : sessions_) {
      if (x.blocked_until)
        at(*x.blocked_until);
      if (!x.flights.empty())
        at(deadline(x));
    }
    return out;
  }

private:
  /// A client that still acks events sent before this one is slow, not silent.
  steady_time deadline(const delivery_session& x) const noexcept {
    const auto& first = x.flights.front();
    const auto since
      = first.number < x.acked ? first.at : std::max(first.at, x.last_ack);
    return since + options_.retry_timeout;
  }

  const delivery_options& options_;
  std::map<session_id, delivery_session> sessions_;
};

} // namespace weir::actors
