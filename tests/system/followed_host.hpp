#pragma once

#include "tests/support/net_fixture.hpp"
#include "tests/support/repo_builder.hpp"
#include "tests/system/channel_client.hpp"
#include "tests/system/hostile_host.hpp"
#include "tests/system/hostile_node.hpp"

#include <chrono>
#include <list>
#include <memory>
#include <optional>
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

  /// Starts the node and the consumer. Nothing is tracked yet.
  /// @param others Upstreams besides the host.
  void start(std::vector<std::string> others = {},
             std::vector<std::string> options = {});

  hostile_node& node() noexcept { return *node_; }

  std::vector<atproto::did> accounts() const;

  /// Expects that the node has all repos as they are now.
  void expect_synced();

  /// Live commits, each sent after the last one came to the consumer, and not
  /// sooner than `pace` after that was sent: how many milliseconds they took.
  /// Fewer when one never came, which fails the test.
  std::vector<double> commit(size_t commits,
                             std::chrono::milliseconds pace = {});

private:
  std::vector<uint64_t> take(const std::vector<std::string_view>& texts);

  /// Sends a commit of the next repo and waits for it: when it was sent;
  /// nothing when it never came.
  std::optional<std::chrono::steady_clock::time_point> send_one();

  net::transport_ptr network_;
  hostile_stream stream_;
  hostile_host host_;
  std::list<test_repo> repos_;
  inbox<std::string> live_;
  int64_t seq_ = 0;
  std::unique_ptr<hostile_node> node_;
  std::unique_ptr<channel_client> channel_;
};

} // namespace weir::tests
