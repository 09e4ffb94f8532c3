#pragma once

#include "tests/system/hostile_host.hpp"

#include <atomic>
#include <functional>
#include <list>
#include <string>
#include <vector>

namespace weir::tests {

/// The misdeed of a host, on its stream and in its download.
enum class misdeed : uint8_t {
  slow,      ///< Sends a byte at long intervals.
  endless,   ///< Sends as much as is read, without an end.
  resetting, ///< Resets every connection in the middle of an answer.
  forging,   ///< Signs commits of its account with another key.
};

constexpr size_t misdeeds = 4;

/// Many PDSs, each with one account and one misdeed.
///
/// # Ownership and threads
/// The same as for `hostile_host`; it outlives the node that follows it.
class hostile_crowd {
public:
  /// @param deed The misdeed of the host with this number.
  /// @param forgeries Number of forged commits on one connection, after which
  /// it is silent.
  /// @param directory The host that gets the documents of all accounts.
  hostile_crowd(size_t hosts, const std::function<misdeed(size_t)>& deed,
                int64_t forgeries, hostile_host& directory);

  /// The hosts in the form of the option `--upstream`.
  std::vector<std::string> upstreams() const;

  std::vector<atproto::did> accounts() const;

  /// The account of the host with this number, in its first state.
  static live_repo account(size_t i);

  /// The number of connections to all hosts so far.
  size_t connections() const;

  /// The number of hosts that had at least one connection.
  size_t met() const;

  /// The number of forged commits that were sent.
  size_t forged() const noexcept { return forged_; }

private:
  struct member {
    explicit member(size_t i) : repo(account(i)) {}

    live_repo repo;
    hostile_host host;
  };

  void misbehave(member& x, misdeed how);
  void send_forgeries(raw_peer& peer, live_repo repo);

  const int64_t forgeries_;
  std::atomic<size_t> forged_ = 0;
  /// Last, because their threads use the members above.
  std::list<member> members_;
};

} // namespace weir::tests
