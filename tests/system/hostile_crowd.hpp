#pragma once

#include "tests/system/hostile_host.hpp"

#include <atomic>
#include <functional>
#include <list>
#include <string>
#include <vector>

namespace weir::tests {

/// What a host of the crowd does wrong, on its stream and in its download.
enum class misdeed : uint8_t {
  slow,      ///< A byte every now and then.
  endless,   ///< As much as is taken, and no end.
  resetting, ///< Ends every connection in the middle.
  forging,   ///< Signs commits of its account with another key.
};

constexpr size_t misdeeds = 4;

/// Many PDSs, each with one account and one misdeed.
///
/// # Ownership and threads
/// As `hostile_host`; outlives the node that follows it.
class hostile_crowd {
public:
  /// @param deed Of the host with this number.
  /// @param forgeries Forged commits of one connection; then it is silent.
  /// @param directory Gets the documents of all accounts.
  hostile_crowd(size_t hosts, const std::function<misdeed(size_t)>& deed,
                int64_t forgeries, hostile_host& directory);

  /// As `--upstream` takes them.
  std::vector<std::string> upstreams() const;

  std::vector<atproto::did> accounts() const;

  /// The account of the host with this number, as it is at first.
  static live_repo account(size_t i);

  /// Connections to all of them so far.
  size_t connections() const;

  /// Hosts that had at least one.
  size_t met() const;

  /// Forged commits that were taken off their hands.
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
  std::list<member> members_; ///< Last: their threads use the rest.
};

} // namespace weir::tests
