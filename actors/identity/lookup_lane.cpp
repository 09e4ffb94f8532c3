#include "actors/identity/lookup_lane.hpp"

#include <utility>

namespace weir::actors {

namespace {

constexpr auto rotation = static_cast<size_t>(lookup_cause::rotation);
constexpr auto newcomer = static_cast<size_t>(lookup_cause::newcomer);
constexpr auto again = static_cast<size_t>(lookup_cause::again);
constexpr auto retry = static_cast<size_t>(lookup_cause::retry);

/// A round: whose turn it is. When nobody of that cause waits, the first cause
/// of which somebody does.
constexpr std::array round{rotation, newcomer, rotation, newcomer, again,
                           rotation, newcomer, retry};

} // namespace

lookup_lane::lookup_lane(double retries_per_second, size_t places)
  : places_(places), retries_(retries_per_second, retries_per_second) {
  // nop
}

void lookup_lane::push(queued_lookup x) {
  queues_[static_cast<size_t>(x.cause)].push_back(std::move(x));
}

std::optional<queued_lookup> lookup_lane::take(steady_time now) {
  if (running_ >= places_)
    return std::nullopt;
  const auto may = [&](size_t cause) {
    return !queues_[cause].empty()
           && (cause != retry || retries_.level(now) >= 1);
  };
  auto cause = round[turn_ % round.size()];
  if (!may(cause))
    for (cause = 0; cause < queues_.size() && !may(cause);)
      ++cause;
  if (cause == queues_.size())
    return std::nullopt;
  auto out = std::move(queues_[cause].front());
  queues_[cause].pop_front();
  ++turn_;
  ++running_;
  if (cause == retry)
    retries_.take(now);
  return out;
}

void lookup_lane::end(lookup_cause cause, bool succeeded, steady_time now) {
  --running_;
  if (succeeded && cause == lookup_cause::retry)
    retries_.charge(now, -1, 0);
}

std::optional<steady_time> lookup_lane::due(steady_time now) const {
  if (running_ >= places_)
    return std::nullopt;
  for (size_t cause = 0; cause < retry; ++cause)
    if (!queues_[cause].empty())
      return now;
  if (!queues_[retry].empty())
    return now + retries_.delay(now);
  return std::nullopt;
}

size_t lookup_lane::size() const noexcept {
  auto out = running_;
  for (const auto& x : queues_)
    out += x.size();
  return out;
}

} // namespace weir::actors
