#pragma once

#include "actors/consumer/delivery_lane.hpp"

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

  /// @returns whether it is the only connection.
  bool open(session_id id, steady_time now);

  /// @pre none of its events is in flight
  void close(session_id id) { sessions_.erase(id); }

  /// Null when there is no such connection.
  delivery_session* find(session_id id);

  /// Of the connections that take more, the one that is least behind with acks.
  delivery_session* pick();

  /// Tries sockets again that took no more a while ago.
  void unblock(steady_time now);

  /// An event that has waited too long for its ack; null when there is none.
  const delivery_flight* expired(steady_time now) const;

  /// The earliest time for `unblock` or `expired`; none when nothing waits.
  std::optional<steady_time> due() const;

private:
  steady_time deadline(const delivery_session& x) const noexcept;

  const delivery_options& options_;
  std::map<session_id, delivery_session> sessions_;
};

} // namespace weir::actors
