#pragma once

#include "actors/consumer/delivery_lane.hpp"

#include <map>

namespace weir::actors {

/// The connections of a consumer: which one takes the next event, and when an
/// event that was sent has waited too long for its ack.
class delivery_sessions {
public:
  /// @param options Outlive this.
  explicit delivery_sessions(const delivery_options& options) noexcept
    : options_(options) {
    // nop
  }

  bool empty() const noexcept { return sessions_.empty(); }
  size_t size() const noexcept { return sessions_.size(); }

  /// @returns whether it is the only one.
  bool open(session_id id, steady_time now);

  /// @pre none of its events is in flight
  void close(session_id id) { sessions_.erase(id); }

  /// Null when there is none.
  delivery_session* find(session_id id);

  /// The one that is least behind with its acks, of those that take more.
  delivery_session* pick();

  /// Sockets that took no more a while ago are tried again.
  void unblock(steady_time now);

  /// An event that has waited too long for its ack; null: none has.
  const delivery_flight* expired(steady_time now) const;

  /// The earliest moment of both; none: nothing is waited for.
  std::optional<steady_time> due() const;

private:
  steady_time deadline(const delivery_session& x) const noexcept;

  const delivery_options& options_;
  std::map<session_id, delivery_session> sessions_;
};

} // namespace weir::actors
