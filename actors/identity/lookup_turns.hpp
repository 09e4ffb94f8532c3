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

/// Why an identity is looked up. In each round the first two causes come before
/// the others.
enum class lookup_cause : uint8_t {
  rotation, ///< There is evidence that a known document changed.
  newcomer, ///< Nothing is known of the identity.
  again,    ///< A known document is old, or was read a moment ago.
  retry,    ///< Its last look-up failed.
  last_ = retry
};

constexpr size_t lookup_causes = static_cast<size_t>(lookup_cause::last_) + 1;

/// Look-ups that wait. For each cause the hosts take turns, and each host's
/// look-ups go by age: many look-ups of one host delay those of another by only
/// one turn each. No clock.
///
/// A host is the name that a look-up is counted for: a site (`site_of`), or any
/// other name.
class lookup_turns {
public:
  lookup_turns() = default;

  lookup_turns(const lookup_turns&) = delete;
  lookup_turns& operator=(const lookup_turns&) = delete;

  /// @pre the DID does not wait
  void add(const atproto::did& repo, lookup_cause cause,
           const std::string& host);

  /// Takes the oldest look-up of the host whose turn it is.
  std::optional<atproto::did> take(lookup_cause cause);

  /// Another host also needs the look-up: if fewer wait for that host, it waits
  /// there.
  void share(const atproto::did& repo, const std::string& host);

  /// Makes room for a look-up of this host: the youngest one of the host with
  /// the most leaves, if this host has fewer; otherwise one of its own with a
  /// lesser cause.
  /// @returns the one that left.
  std::optional<atproto::did> displace(lookup_cause cause,
                                       const std::string& host);

  /// Removes a waiting look-up. Returns false when it does not wait.
  bool drop(const atproto::did& repo);

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
             const std::string& host);
  void leave(waiter_map::value_type& x);
  atproto::did remove(const atproto::did& repo);
  void resize(host_map::value_type& x, bool more);
  size_t of_host(const std::string& host) const;

  host_map hosts_; ///< Those with waiting look-ups.
  waiter_map waiting_;
  std::array<turns, lookup_causes> turns_; ///< The next host in turn is first.
  std::set<std::pair<size_t, std::string_view>> by_size_;
};

} // namespace weir::actors
