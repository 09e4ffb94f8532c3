#include "actors/consumer/delivery_sessions.hpp"

#include <algorithm>

namespace weir::actors {

bool delivery_sessions::open(session_id id, steady_time now) {
  const auto first = sessions_.empty();
  auto& x = sessions_[id];
  x.id = id;
  x.last_ack = now;
  return first;
}

delivery_session* delivery_sessions::find(session_id id) {
  const auto i = sessions_.find(id);
  return i != sessions_.end() ? &i->second : nullptr;
}

delivery_session* delivery_sessions::pick() {
  delivery_session* best = nullptr;
  for (auto& [id, x] : sessions_)
    if (!x.blocked_until
        && (best == nullptr || x.flights.size() < best->flights.size()))
      best = &x;
  return best;
}

void delivery_sessions::unblock(steady_time now) {
  for (auto& [id, x] : sessions_)
    if (x.blocked_until && *x.blocked_until <= now)
      x.blocked_until.reset();
}

const delivery_flight* delivery_sessions::expired(steady_time now) const {
  for (const auto& [id, x] : sessions_)
    if (!x.flights.empty() && deadline(x) <= now)
      return &x.flights.front();
  return nullptr;
}

std::optional<steady_time> delivery_sessions::due() const {
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

/// A client that still acks events sent before this one is slow, not silent.
steady_time
delivery_sessions::deadline(const delivery_session& x) const noexcept {
  const auto& first = x.flights.front();
  const auto since
    = first.number < x.acked ? first.at : std::max(first.at, x.last_ack);
  return since + options_.retry_timeout;
}

} // namespace weir::actors
