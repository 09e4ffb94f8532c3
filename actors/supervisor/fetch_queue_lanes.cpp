#include "actors/supervisor/fetch_queue.hpp"
#include "actors/supervisor/limits.hpp"
#include "actors/support/did_method.hpp"

#include <algorithm>
#include <utility>
#include <vector>

/// The lanes of the queue: their turns, rests, and what is remembered of them.
namespace weir::actors {

// -- turns --------------------------------------------------------------------

fetch_lane::turns& fetch_queue::turns_of(const fetch_lane& lane, size_t seat) {
  return seat == permits ? permit_turns_
                         : turns_[static_cast<size_t>(lane.kind)][seat];
}

void fetch_queue::sit(fetch_lane& lane, size_t seat) {
  auto& turns = turns_of(lane, seat);
  if (!lane.seats[seat])
    lane.seats[seat] = turns.insert(turns.end(), &lane);
}

void fetch_queue::stand_up(fetch_lane& lane, size_t seat) {
  turns_of(lane, seat).erase(*std::exchange(lane.seats[seat], std::nullopt));
}

void fetch_queue::pass_turn(fetch_lane& lane, size_t seat) {
  auto& turns = turns_of(lane, seat);
  turns.splice(turns.end(), turns, *lane.seats[seat]);
}

// -- who is in a lane ---------------------------------------------------------

void fetch_queue::join(fetch_entry& x, const std::string& name, bool host) {
  const auto [i, added] = lanes_.try_emplace(name);
  auto& lane = i->second;
  if (added) {
    lane.name = &i->first;
    if (!host)
      lane.kind = document_is_foreign(*x.repo) ? lane_kind::web
                                               : lane_kind::directory;
  }
  if (lane.memory)
    remembered_.erase(*std::exchange(lane.memory, std::nullopt));
  ++lane.entries;
  x.lane = &lane;
}

void fetch_queue::part(fetch_entry& x, steady_time now) {
  auto& lane = *std::exchange(x.lane, nullptr);
  if (--lane.entries == 0)
    settle(lane, now);
}

/// Moves the repo to the lane of a host. The caller then places it there.
void fetch_queue::move(fetch_entry& x, const std::string& pds,
                       steady_time now) {
  leave(x);
  part(x, now);
  join(x, pds, true);
  x.alarm = alarms_.emplace(now, &x);
  x.at = fetch_stage::delayed;
}

fetch_lane& fetch_queue::host(const std::string& pds) {
  const auto [i, added] = lanes_.try_emplace(pds);
  if (added)
    i->second.name = &i->first;
  return i->second;
}

/// Remembers a lane. When there are too many, the oldest is forgotten: that
/// host may be asked once more than it should be, but no new host has to wait.
void fetch_queue::settle(fetch_lane& lane, steady_time now) {
  if (lane.entries > 0)
    return;
  if (lane.memory)
    remembered_.erase(*std::exchange(lane.memory, std::nullopt));
  if (lane.failures == 0 && lane.crawls == 0 && lane.rest_until <= now
      && lane.modest_until <= now
      && (lane.kind == lane_kind::untried || !lane.is_host())) {
    forget(lane);
    return;
  }
  lane.memory = remembered_.insert(remembered_.end(), &lane);
  if (remembered_.size() > options_.hosts_max) {
    auto& oldest = *remembered_.front();
    remembered_.pop_front();
    forget(oldest);
  }
}

void fetch_queue::forget(fetch_lane& lane) {
  lanes_.erase(lanes_.find(*lane.name));
}

// -- time ---------------------------------------------------------------------

/// Repos that wait for the host give their places to others.
void fetch_queue::rest(fetch_lane& lane, std::chrono::seconds wait,
                       steady_time now) {
  lane.rest_until = now + std::min(wait, options_.breaker_rest_max);
  while (!lane.ready.empty())
    place(lane.ready.front(), lane.rest_until, now);
  for (auto& list : lane.queued)
    while (!list.empty())
      place(list.front(), lane.rest_until, now);
}

void fetch_queue::wake(steady_time now) {
  while (!alarms_.empty() && alarms_.begin()->first <= now)
    place(*alarms_.begin()->second, now, now);
}

void fetch_queue::on_timer(steady_time now) {
  wake_ups_.erase(wake_ups_.begin(), wake_ups_.upper_bound(now));
  wake(now);
  for (auto i = remembered_.begin(); i != remembered_.end();) {
    auto& lane = **i++;
    if (lane.rest_until <= now && lane.modest_until <= now
        && std::max(lane.failed_at, lane.answered_at)
               + options_.breaker_rest_max
             <= now) {
      remembered_.erase(*lane.memory);
      forget(lane);
    }
  }
}

std::optional<steady_time> fetch_queue::next_wake_up() const {
  if (wake_ups_.empty())
    return std::nullopt;
  return *wake_ups_.begin();
}

} // namespace weir::actors
