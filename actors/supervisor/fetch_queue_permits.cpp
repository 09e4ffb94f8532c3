#include "actors/supervisor/fetch_queue.hpp"
#include "actors/supervisor/limits.hpp"

#include <algorithm>

/// Decides which repo gets the next permit, and for which host one is given up.
namespace weir::actors {

size_t fetch_queue::permit_share() const noexcept {
  return std::min(fair_share(options_.parallelism), options_.per_host);
}

size_t fetch_queue::silent_permits() const noexcept {
  return (options_.parallelism - 1) / limits::fetch_silent_part;
}

fetch_queue::better_hosts fetch_queue::those_that_wait() const {
  better_hosts out;
  for (const auto* x : permit_turns_)
    if (x->running < options_.per_host) {
      out.answering = out.answering || x->kind == lane_kind::answering;
      out.untried = out.untried || x->kind == lane_kind::untried;
    }
  return out;
}

fetch_queue::better_hosts fetch_queue::those_that_wait_or_run() const {
  auto out = those_that_wait();
  out.answering = out.answering || of(lane_kind::answering).running > 0;
  out.untried = out.untried || of(lane_kind::untried).running > 0;
  return out;
}

/// Whether hosts of its kind have all of their permits, while others need the
/// rest.
bool fetch_queue::is_held(const fetch_lane& lane,
                          const better_hosts& others, steady_time now) const {
  if (lane.kind == lane_kind::answering)
    return false;
  const auto own = of(lane.kind).running;
  const auto unproven
    = of(lane_kind::untried).running + of(lane_kind::silent).running;
  const auto kept = std::max<size_t>(
    options_.parallelism / limits::fetch_answering_part, 1);
  const auto all_taken
    = (others.answering && unproven + kept >= options_.parallelism)
      || (lane.kind == lane_kind::silent
          && (others.answering || others.untried)
          && own >= silent_permits());
  const auto turn = lane.kind == lane_kind::silent ? limits::fetch_silent_turn
                                                   : limits::fetch_untried_turn;
  const auto has_turn = own == 0 && now - of(lane.kind).started >= turn;
  return all_taken && !has_turn;
}

/// Hosts below their share come first. More than the share is given only when
/// no host below it waits, and last to hosts that had to give a permit back.
fetch_entry* fetch_queue::next_to_start(steady_time now) {
  if (running_ >= options_.parallelism)
    return nullptr;
  enum : int { below, fine, modest, full };
  const auto others = those_that_wait();
  const auto rank = [&](const fetch_lane* x) {
    if (x->running >= options_.per_host || is_held(*x, others, now))
      return full;
    if (x->running < permit_share())
      return below;
    return x->modest_until > now ? modest : fine;
  };
  const auto lane = std::min_element(
    permit_turns_.begin(), permit_turns_.end(),
    [&](const auto* x, const auto* y) { return rank(x) < rank(y); });
  if (lane == permit_turns_.end() || rank(*lane) == full)
    return nullptr;
  if (running_ + 1 == options_.parallelism && reserved_until_ > now) {
    if (rank(*lane) == modest)
      return nullptr;
    reserve(now);
  }
  auto& x = (*lane)->ready.front();
  pass_turn(**lane, permits);
  leave(x);
  enter(x, fetch_stage::running);
  x.again.reset(); // This fetch satisfies all wishes so far.
  of(x.lane->kind).started = now;
  return &x;
}

/// Hosts that are held count as well when none of their kind has a permit,
/// since a crawling download helps no repo.
bool fetch_queue::starving(steady_time now) const {
  if (running_ < options_.parallelism)
    return false;
  const auto others = those_that_wait_or_run();
  return std::any_of(permit_turns_.begin(), permit_turns_.end(),
                     [&](const auto* x) {
                       return x->running < permit_share()
                              && (of(x->kind).running == 0
                                  || !is_held(*x, others, now));
                     });
}

size_t fetch_queue::without_permit() const {
  if (running_ < options_.parallelism)
    return 0;
  return static_cast<size_t>(std::count_if(
    permit_turns_.begin(), permit_turns_.end(), [](const auto* x) {
      return x->running == 0 && x->kind != lane_kind::silent;
    }));
}

const fetch_lane* fetch_queue::neediest(steady_time now) const {
  if (running_ < options_.parallelism)
    return nullptr;
  const auto others = those_that_wait_or_run();
  const fetch_lane* out = nullptr;
  for (const auto* x : permit_turns_) {
    const auto entitled
      = x->running < permit_share()
        || (x->running < options_.per_host && x->modest_until <= now);
    if (entitled && (out == nullptr || x->running < out->running)
        && !is_held(*x, others, now))
      out = x;
  }
  return out;
}

void fetch_queue::reserve(steady_time now) noexcept {
  reserved_until_ = now + limits::fetch_reserve_time;
}

std::optional<steady_time>
fetch_queue::next_reserve_end(steady_time now) const {
  if (ready_count_ == 0 || reserved_until_ <= now)
    return std::nullopt;
  return reserved_until_;
}

} // namespace weir::actors
