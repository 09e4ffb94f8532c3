#include "actors/identity/lookup_lane.hpp"

#include <algorithm>
#include <utility>

namespace weir::actors {

namespace {

using enum lookup_cause;

/// One round of causes. When no DID of the cause in turn waits, the first cause
/// with a waiting DID is taken.
constexpr std::array round{rotation, newcomer, rotation, newcomer, again,
                           rotation, newcomer, retry};

constexpr std::array causes{rotation, newcomer, again, retry};

} // namespace

lookup_lane::lookup_lane(double retries_per_second, size_t places, size_t most)
  : places_(places), most_(most),
    retries_(retries_per_second, retries_per_second) {}

lookup_lane::entry lookup_lane::push(const queued_lookup& x,
                                     const std::string& host) {
  entry out;
  if (size() >= most_) {
    out.displaced = waiting_.displace(x.cause, host);
    if (!out.displaced)
      return out;
  }
  waiting_.add(x.repo, x.cause, host);
  out.taken = true;
  return out;
}

std::optional<queued_lookup> lookup_lane::take(steady_time now) {
  if (running_ >= places_)
    return std::nullopt;
  const auto may = [&](lookup_cause cause) {
    return !waiting_.empty(cause)
           && (cause != retry || retries_.level(now) >= 1);
  };
  auto cause = round[turn_ % round.size()];
  if (!may(cause)) {
    const auto other = std::find_if(causes.begin(), causes.end(), may);
    if (other == causes.end())
      return std::nullopt;
    cause = *other;
  }
  ++turn_;
  ++running_;
  if (cause == retry)
    retries_.take(now);
  return queued_lookup{*waiting_.take(cause), cause};
}

void lookup_lane::end(lookup_cause cause, bool succeeded, steady_time now) {
  --running_;
  if (succeeded && cause == retry)
    retries_.charge(now, -1, 0);
}

std::optional<steady_time> lookup_lane::due(steady_time now) const {
  if (running_ >= places_)
    return std::nullopt;
  for (const auto cause : causes)
    if (cause != retry && !waiting_.empty(cause))
      return now;
  if (!waiting_.empty(retry))
    return now + retries_.delay(now);
  return std::nullopt;
}

} // namespace weir::actors
