#pragma once

#include "atproto/identifiers.hpp"

#include <array>
#include <list>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace weir::actors {

/// Why an identity is looked up. The first two causes come before the others.
enum class lookup_cause : uint8_t {
  rotation, ///< There is evidence that a known document changed.
  newcomer, ///< Nothing is known of the identity.
  again,    ///< A known document is old, or was read a moment ago.
  retry,    ///< Its last look-up failed.
  last_ = retry
};

constexpr size_t lookup_causes = static_cast<size_t>(lookup_cause::last_) + 1;

/// Look-ups that wait. For each cause the hosts take turns, and each host's
/// look-ups go by age: many of one host delay those of another by only one turn
/// each.
///
/// A host is the name that a look-up is counted for: mostly a `site_of`.
class lookup_turns {
public:
  lookup_turns() = default;

  lookup_turns(const lookup_turns&) = delete;
  lookup_turns& operator=(const lookup_turns&) = delete;

  /// @pre the DID does not wait
  void add(const atproto::did& repo, lookup_cause cause,
           const std::string& host) {
    enter(*waiting_.try_emplace(repo).first, cause, host);
  }

  /// Takes the oldest look-up of the host whose turn it is.
  std::optional<atproto::did> take(lookup_cause cause) {
    auto& order = turns_[static_cast<size_t>(cause)];
    if (order.empty())
      return std::nullopt;
    const auto i = order.begin();
    order.splice(order.end(), order, i);
    return remove(*(*i)->second.repos[static_cast<size_t>(cause)].front());
  }

  /// This host also needs it: if fewer look-ups wait for it, it waits there.
  void share(const atproto::did& repo, const std::string& host) {
    const auto i = waiting_.find(repo);
    if (i == waiting_.end() || of_host(host) + 1 >= i->second.of->second.size)
      return;
    const auto cause = i->second.cause;
    leave(*i);
    enter(*i, cause, host);
  }

  /// Makes room for a look-up of this host: the youngest one of the host with
  /// the most leaves, or one of its own with a lesser cause.
  /// @returns the one that left.
  std::optional<atproto::did> displace(lookup_cause cause,
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
    for (auto n = lookup_causes; n-- > least;)
      if (const auto& repos = i->second.repos[n]; !repos.empty())
        return remove(*repos.back());
    return std::nullopt;
  }

  /// Removes it, if it waits.
  void drop(const atproto::did& repo) {
    if (waiting_.contains(repo))
      remove(repo);
  }

  bool empty(lookup_cause cause) const noexcept {
    return turns_[static_cast<size_t>(cause)].empty();
  }

  size_t size() const noexcept { return waiting_.size(); }

  /// Hosts with waiting look-ups.
  size_t hosts() const noexcept { return hosts_.size(); }

private:
  struct host_queue;
  using host_map = std::unordered_map<std::string, host_queue>;
  using turns = std::list<host_map::value_type*>;

  struct host_queue {
    size_t size = 0;
    std::array<std::list<const atproto::did*>, lookup_causes> repos;
    std::array<turns::iterator, lookup_causes> seats;
  };

  struct waiter {
    host_map::value_type* of = nullptr;
    lookup_cause cause = lookup_cause::again;
    std::list<const atproto::did*>::iterator place;
  };

  using waiter_map = std::unordered_map<atproto::did, waiter>;

  void enter(waiter_map::value_type& x, lookup_cause cause,
             const std::string& host) {
    auto& to = *hosts_.try_emplace(host).first;
    const auto n = static_cast<size_t>(cause);
    auto& repos = to.second.repos[n];
    if (repos.empty())
      to.second.seats[n] = turns_[n].insert(turns_[n].end(), &to);
    x.second = {&to, cause, repos.insert(repos.end(), &x.first)};
    resize(to, true);
  }

  void leave(waiter_map::value_type& x) {
    auto& from = *x.second.of;
    const auto n = static_cast<size_t>(x.second.cause);
    auto& repos = from.second.repos[n];
    repos.erase(x.second.place);
    if (repos.empty())
      turns_[n].erase(from.second.seats[n]);
    resize(from, false);
  }

  atproto::did remove(const atproto::did& repo) {
    const auto i = waiting_.find(repo);
    leave(*i);
    return std::move(waiting_.extract(i).key());
  }

  /// A host without waiting look-ups is removed.
  void resize(host_map::value_type& x, bool more) {
    auto& size = x.second.size;
    by_size_.erase({size, x.first});
    size += more ? 1 : size_t(-1);
    if (size > 0)
      by_size_.emplace(size, x.first);
    else
      hosts_.erase(hosts_.find(x.first));
  }

  size_t of_host(const std::string& host) const {
    const auto i = hosts_.find(host);
    return i == hosts_.end() ? 0 : i->second.size;
  }

  host_map hosts_; ///< Hosts with waiting look-ups.
  waiter_map waiting_;
  std::array<turns, lookup_causes> turns_; ///< The next host in turn is first.
  std::set<std::pair<size_t, std::string_view>> by_size_;
};

} // namespace weir::actors
