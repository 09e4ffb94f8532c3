#include "actors/supervisor/fetch_queue.hpp"
#include "actors/supervisor/limits.hpp"

#include <algorithm>
#include <utility>

/// Places of repos whose hosts are looked up, or that wait for permits.
namespace weir::actors {

/// Takes lanes of each kind in turn. Repos that wait for look-ups have other
/// places than repos of known hosts.
fetch_lane* fetch_queue::next_lane(size_t priority) {
  using enum lane_kind;
  std::array<lane_kind, lane_kinds> order{answering, untried, silent,
                                          directory, web};
  std::rotate(order.begin(), order.begin() + picks_ % host_kinds,
              order.begin() + host_kinds);
  if (picks_ % 2 != 0)
    std::swap(order[host_kinds], order[host_kinds + 1]);
  for (const auto kind : order) {
    if (!has_place(kind))
      continue;
    auto& turns = turns_[static_cast<size_t>(kind)][priority];
    const auto lane = std::find_if(turns.begin(), turns.end(), [&](auto* x) {
      return may_prepare(*x);
    });
    if (lane != turns.end())
      return *lane;
  }
  return nullptr;
}

/// The places of repos whose hosts are known, or of the others.
size_t fetch_queue::places_taken(bool of_hosts) const noexcept {
  size_t out = 0;
  for (size_t i = 0; i < lane_kinds; ++i)
    if ((i < host_kinds) == of_hosts)
      out += tallies_[i].preparing + tallies_[i].ready;
  return out;
}

bool fetch_queue::wants_places(lane_kind kind) const {
  const auto& turns = turns_[static_cast<size_t>(kind)];
  return std::any_of(turns.begin(), turns.end(), [](const auto& x) {
    return !x.empty();
  });
}

/// Domains of did:web names leave a share to others, because anybody can have
/// any number of them. So do hosts that may never answer. The part that silent
/// hosts leave is always free, since they keep a permit for long.
bool fetch_queue::has_place(lane_kind kind) const {
  const auto all = options_.preparing_max;
  const auto taken = [&](lane_kind x) {
    return of(x).preparing + of(x).ready;
  };
  if (kind == lane_kind::web
      && taken(kind) >= std::max<size_t>(all - fair_share(all), 1))
    return false;
  if (kind == lane_kind::silent
      && taken(kind) >= std::max<size_t>(all / limits::fetch_silent_part, 1))
    return false;
  const auto unproven = taken(lane_kind::untried) + taken(lane_kind::silent);
  if ((kind == lane_kind::untried || kind == lane_kind::silent)
      && wants_places(lane_kind::answering)
      && unproven >= all - all / limits::fetch_answering_part)
    return false;
  return places_taken(static_cast<size_t>(kind) < host_kinds) < all;
}

/// A host never has all places: the hosts of other repos must be found as well,
/// or it would not be known that they wait. The directory may have all places
/// while no other lane waits for look-ups.
bool fetch_queue::may_prepare(const fetch_lane& lane) const {
  const auto most = lane.is_host() || waiting_lanes_ > 1
                      ? fair_share(options_.preparing_max)
                      : options_.preparing_max;
  return lane.preparing + lane.ready_count < most;
}

// -- what is known of hosts ---------------------------------------------------

void fetch_queue::set_kind(fetch_lane& lane, lane_kind kind) {
  if (lane.kind == kind)
    return;
  auto& from = of(lane.kind);
  auto& to = of(kind);
  for (size_t i = 0; i < fetch_lane::priorities; ++i)
    if (lane.seats[i]) {
      auto& seats = turns_[static_cast<size_t>(kind)][i];
      seats.splice(seats.end(), turns_of(lane, i), *lane.seats[i]);
    }
  from.preparing -= lane.preparing;
  from.ready -= lane.ready_count;
  from.running -= lane.running;
  to.preparing += lane.preparing;
  to.ready += lane.ready_count;
  to.running += lane.running;
  lane.kind = kind;
}

void fetch_queue::answered(fetch_lane& lane, steady_time now) {
  set_kind(lane, lane_kind::answering);
  lane.answered_at = now;
}

} // namespace weir::actors
