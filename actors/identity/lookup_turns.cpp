#include "actors/identity/lookup_turns.hpp"

namespace weir::actors {

void lookup_turns::add(const atproto::did& repo, lookup_cause cause,
                       const std::string& host) {
  enter(*waiting_.try_emplace(repo).first, cause, host);
}

std::optional<atproto::did> lookup_turns::take(lookup_cause cause) {
  auto& order = turns_[static_cast<size_t>(cause)];
  if (order.empty())
    return std::nullopt;
  const auto i = order.begin();
  order.splice(order.end(), order, i);
  return remove(*(*i)->second.repos[static_cast<size_t>(cause)].front());
}

void lookup_turns::share(const atproto::did& repo, const std::string& host) {
  const auto i = waiting_.find(repo);
  if (i == waiting_.end()
      || of_host(host) + 1 >= i->second.of->second.size)
    return;
  const auto cause = i->second.cause;
  leave(*i);
  enter(*i, cause, host);
}

std::optional<atproto::did> lookup_turns::displace(lookup_cause cause,
                                                   const std::string& host) {
  if (by_size_.empty())
    return std::nullopt;
  const auto own = of_host(host);
  const auto [most, name] = *by_size_.rbegin();
  const auto from = most > own + 1 ? std::string{name} : host;
  const auto i = hosts_.find(from);
  if (i == hosts_.end())
    return std::nullopt;
  const auto least = from == host ? static_cast<size_t>(cause) + 1 : 0;
  for (auto n = lookup_causes; n-- > least;) {
    const auto& repos = i->second.repos[n];
    if (repos.empty())
      continue;
    return remove(*repos.back());
  }
  return std::nullopt;
}

bool lookup_turns::drop(const atproto::did& repo) {
  if (!waiting_.contains(repo))
    return false;
  remove(repo);
  return true;
}

atproto::did lookup_turns::remove(const atproto::did& repo) {
  const auto i = waiting_.find(repo);
  leave(*i);
  return std::move(waiting_.extract(i).key());
}

void lookup_turns::enter(waiter_map::value_type& x, lookup_cause cause,
                         const std::string& host) {
  auto& to = *hosts_.try_emplace(host).first;
  const auto n = static_cast<size_t>(cause);
  auto& repos = to.second.repos[n];
  if (repos.empty())
    to.second.seats[n] = turns_[n].insert(turns_[n].end(), &to);
  x.second = {&to, cause, repos.insert(repos.end(), &x.first)};
  resize(to, true);
}

void lookup_turns::leave(waiter_map::value_type& x) {
  auto& from = *x.second.of;
  const auto n = static_cast<size_t>(x.second.cause);
  auto& repos = from.second.repos[n];
  repos.erase(x.second.place);
  if (repos.empty())
    turns_[n].erase(from.second.seats[n]);
  resize(from, false);
}

/// A host without waiting look-ups is removed.
void lookup_turns::resize(host_map::value_type& x, bool more) {
  auto& size = x.second.size;
  by_size_.erase({size, x.first});
  size += more ? 1 : size_t(-1);
  if (size > 0)
    by_size_.emplace(size, x.first);
  else
    hosts_.erase(hosts_.find(x.first));
}

size_t lookup_turns::of_host(const std::string& host) const {
  const auto i = hosts_.find(host);
  return i == hosts_.end() ? 0 : i->second.size;
}

} // namespace weir::actors
