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

/// A good PDS, a node that follows it, maybe beside others, and a consumer.
///
/// # Ownership and threads
/// One thread. Hosts that the node follows as well outlive it.
class followed_host {
public:
  static constexpr size_t repos = 20;

  explicit followed_host(net::transport_ptr network);

  /// The host, which is the directory of all accounts as well.
  hostile_host& host() noexcept { return host_; }

  /// With these a node makes little of what bad hosts let it fetch.
  static std::vector<std::string> small_fetches() {
    return {"--retry-backoff-min", "60s", "--repo-bytes-max", "1MiB"};
  }

  /// Starts the node and the consumer. Nothing is tracked yet.
  /// @param others Upstreams besides the host.
  void start(std::vector<std::string> others = {},
             std::vector<std::string> options = small_fetches());

  hostile_node& node() noexcept { return *node_; }

  std::vector<atproto::did> accounts() const;

  /// Expects that the node has all repos as they are now.
  void expect_synced();

  /// Live commits, each sent when the last one came to the consumer. False
  /// when one never came, which fails the test.
  bool commit(size_t commits);

  /// Live commits, one every `pace`, whatever has come of those before: how
  /// many milliseconds after the time at which it was to be sent each came to
  /// the consumer, in the order of those times. So what delays the sender
  /// counts as well, and a node that stands still for a second has a second's
  /// worth of late commits and not one (latency.md, The method). Fewer when
  /// some never came, which fails the test.
  /// @param before Is told the number of each, when its time has come.
  std::vector<double>
  commit_in_time(size_t commits, std::chrono::milliseconds pace,
                 const std::function<void(size_t)>& before = {});

private:
  /// An event, and when the consumer had it.
  struct arrival {
    std::string text;
    std::chrono::steady_clock::time_point at;
  };

  std::vector<uint64_t> take(const std::vector<std::string_view>& texts);

  /// The next commit, of the next repo; its rev is that repo's.
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
