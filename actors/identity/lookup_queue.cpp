#include "actors/identity/lookup_queue.hpp"

#include "actors/identity/limits.hpp"
#include "actors/support/did_method.hpp"

#include <algorithm>
#include <utility>

namespace weir::actors {

namespace {

size_t web_part_of(size_t all) noexcept {
  return std::max<size_t>(all / limits::web_part, 1);
}

} // namespace

lookup_queue::lookup_queue(double per_second, size_t in_flight_max,
                           size_t waiting_max)
  : budget_(per_second, per_second),
    share_(per_second / limits::web_part, per_second / limits::web_part),
    pace_(per_second),
    directory_(per_second * limits::retry_share, in_flight_max,
               std::max<size_t>(waiting_max, 1)),
    web_(per_second * limits::retry_share / limits::web_part,
         web_part_of(in_flight_max), web_part_of(waiting_max)) {}

lookup_lane& lookup_queue::lane_of(const atproto::did& repo) noexcept {
  return document_is_foreign(repo) ? web_ : directory_;
}

lookup_lane::entry lookup_queue::push(const atproto::did& repo,
                                      lookup_cause cause,
                                      const std::string& host) {
  return lane_of(repo).push({repo, cause}, host);
}

void lookup_queue::share(const atproto::did& repo, const std::string& host) {
  lane_of(repo).share(repo, host);
}

std::optional<atproto::did> lookup_queue::next(steady_time now) {
  if (budget_.delay(now).count() != 0)
    return std::nullopt;
  auto x = take(now);
  if (!x)
    return std::nullopt;
  budget_.take(now);
  running_.emplace(x->repo, running{x->cause, now});
  return std::move(x->repo);
}

/// Takes from the lane whose share is due, otherwise from any that waits.
std::optional<queued_lookup> lookup_queue::take(steady_time now) {
  if (share_.level(now) >= 1)
    if (auto x = web_.take(now)) {
      share_.take(now);
      return x;
    }
  if (pace_.next(now) <= now)
    if (auto x = directory_.take(now)) {
      pace_.take(now);
      return x;
    }
  return web_.take(now);
}

void lookup_queue::done(const atproto::did& repo, const lookup_outcome& how,
                        steady_time now) {
  const auto x = running_.extract(repo).mapped();
  lane_of(repo).end(x.cause, how.succeeded, now);
  if (!document_is_foreign(repo))
    pace_.end(how, x.began, now);
}

std::optional<steady_time> lookup_queue::due(steady_time now) const {
  auto a = directory_.due(now);
  if (a)
    a = std::max(*a, pace_.next(now));
  const auto b = web_.due(now);
  if (!a && !b)
    return std::nullopt;
  const auto first = a && b ? std::min(*a, *b) : a ? *a : *b;
  return std::max(first, now + budget_.delay(now));
}

} // namespace weir::actors
