#include "actors/identity/lookup_queue.hpp"

#include "base/limits_doubt.hpp"

#include <utility>

namespace weir::actors {

namespace {

constexpr std::string_view web_prefix = "did:web:";

/// Host of a did:web name; empty for others.
std::string host_of(const atproto::did& repo) {
  const std::string_view text = repo.str();
  if (!text.starts_with(web_prefix))
    return {};
  const auto name = text.substr(web_prefix.size());
  return std::string{name.substr(0, name.find(':'))};
}

constexpr auto rotation = static_cast<size_t>(lookup_cause::rotation);
constexpr auto newcomer = static_cast<size_t>(lookup_cause::newcomer);
constexpr auto again = static_cast<size_t>(lookup_cause::again);
constexpr auto retry = static_cast<size_t>(lookup_cause::retry);

/// A round: whose turn it is. When nobody of that cause waits, the first cause
/// of which somebody does.
constexpr std::array round{rotation, newcomer, rotation, newcomer, again,
                           rotation, newcomer, retry};

} // namespace

lookup_queue::lookup_queue(double per_second, size_t in_flight_max)
  : in_flight_max_(in_flight_max), budget_(per_second, per_second),
    retries_(per_second * limits::retry_share,
             per_second * limits::retry_share) {
  // nop
}

void lookup_queue::push(atproto::did repo, lookup_cause cause) {
  ++waiting_;
  queues_[static_cast<size_t>(cause)].push_back({std::move(repo), cause});
}

/// Whose turn it is; retries only within their share.
std::deque<lookup_queue::waiting_lookup>*
lookup_queue::choose(steady_time now) {
  const auto may = [&](size_t cause) {
    return !queues_[cause].empty()
           && (cause != retry || retries_.level(now) >= 1);
  };
  const auto first = round[turn_ % round.size()];
  if (may(first))
    return &queues_[first];
  for (size_t cause = 0; cause < queues_.size(); ++cause)
    if (may(cause))
      return &queues_[cause];
  return nullptr;
}

/// A host that does not answer must not hold the places of all others.
bool lookup_queue::hold_back(waiting_lookup& x) {
  const auto name = host_of(x.repo);
  if (name.empty())
    return false;
  auto& host = hosts_[name];
  if (host.running < limits::web_lookups_max) {
    ++host.running;
    return false;
  }
  host.waiting.push_back(std::move(x));
  return true;
}

std::optional<atproto::did> lookup_queue::next(steady_time now) {
  while (running_.size() < in_flight_max_ && budget_.delay(now).count() == 0) {
    auto* from = choose(now);
    if (from == nullptr)
      return std::nullopt;
    auto x = std::move(from->front());
    from->pop_front();
    if (hold_back(x))
      continue;
    ++turn_;
    --waiting_;
    budget_.take(now);
    if (x.cause == lookup_cause::retry)
      retries_.take(now);
    running_.emplace(x.repo, x.cause);
    return std::move(x.repo);
  }
  return std::nullopt;
}

void lookup_queue::done(const atproto::did& repo, bool succeeded,
                        steady_time now) {
  const auto cause = running_.extract(repo).mapped();
  if (succeeded && cause == lookup_cause::retry)
    retries_.charge(now, -1, 0);
  const auto host = hosts_.find(host_of(repo));
  if (host == hosts_.end())
    return;
  --host->second.running;
  if (!host->second.waiting.empty()) {
    auto& x = host->second.waiting.front();
    queues_[static_cast<size_t>(x.cause)].push_front(std::move(x));
    host->second.waiting.pop_front();
  } else if (host->second.running == 0) {
    hosts_.erase(host);
  }
}

std::optional<steady_time> lookup_queue::due(steady_time now) const {
  if (running_.size() >= in_flight_max_)
    return std::nullopt;
  bool others = false;
  for (size_t cause = 0; cause < retry; ++cause)
    others |= !queues_[cause].empty();
  if (others)
    return now + budget_.delay(now);
  if (!queues_[retry].empty())
    return now + std::max(budget_.delay(now), retries_.delay(now));
  return std::nullopt;
}

} // namespace weir::actors
