#pragma once

#include "tests/support/net_fixture.hpp"
#include "tests/system/channel_client.hpp"
#include "tests/system/hostile_host.hpp"
#include "tests/system/hostile_node.hpp"
#include "tests/system/live_repo.hpp"

#include <chrono>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <vector>

namespace weir::tests {

/// A well-behaved PDS, a node that follows it, with or without other hosts, and
/// a consumer.
///
/// # Ownership and threads
/// One thread. Other hosts that the node follows must outlive it.
class followed_host {
public:
  static constexpr size_t repos = 20;

  explicit followed_host(net::transport_ptr network);

  /// The host, which is also the directory of all accounts.
  hostile_host& host() noexcept { return host_; }

  /// Options with which a node fetches only small repos and retries seldom, so
  /// that bad hosts cost it little.
  static std::vector<std::string> small_fetches() {
    return {"--retry-backoff-min", "60s", "--repo-bytes-max", "1MiB"};
  }

  /// Starts the node and the consumer. No repo is tracked yet.
  /// @param others Upstreams besides the host.
  void start(std::vector<std::string> others = {},
             std::vector<std::string> options = small_fetches());

  hostile_node& node() noexcept { return *node_; }

  std::vector<atproto::did> accounts() const;

  /// Expects that the node has the present state of all repos.
  void expect_synced();

  /// Sends live commits, each when the one before has come to the consumer.
  /// False, and the test fails, when one never came.
  bool commit(size_t commits);

  /// Sends live commits, one every `pace`, without waiting for earlier ones.
  /// Returns, in order of the planned times of sending, how many milliseconds
  /// after its planned time each came to the consumer. So a delay of the sender
  /// counts, too, and a node that does nothing for a second has a second's
  /// worth of late commits and not one (latency.md, The method). There are
  /// fewer results when some never came, which fails the test.
  /// @param before Called with the number of each commit when its time has
  /// come.
  std::vector<double>
  commit_in_time(size_t commits, std::chrono::milliseconds pace,
                 const std::function<void(size_t)>& before = {});

private:
  /// An event, and the time at which the consumer got it.
  struct arrival {
    std::string text;
    std::chrono::steady_clock::time_point at;
  };

  std::vector<uint64_t> take(const std::vector<std::string_view>& texts);

  /// The next commit, of the next repo. It has that repo's rev.
  bytes next_frame();

  const test_repo& last_writer() const { return repos_.back(); }

  net::transport_ptr network_;
  hostile_stream stream_;
  hostile_host host_;
  std::list<live_repo> repos_;
  inbox<arrival> live_;
  int64_t seq_ = 0;
  std::unique_ptr<hostile_node> node_;
  std::unique_ptr<channel_client> channel_;
};

} // namespace weir::tests
