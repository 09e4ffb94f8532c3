#pragma once

#include "apps/demo/copy.hpp"
#include "apps/weir/web_client.hpp"
#include "simnet/network.hpp"
#include "tests/support/temp_dir.hpp"
#include "tests/system/channel_client.hpp"
#include "tests/system/config_program.hpp"
#include "tests/system/followed_network.hpp"
#include "tests/system/patience.hpp"

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace weir::tests {

/// The copy that an application makes by taking and acking every event.
///
/// # Threads
/// Safe from any thread.
class live_copy {
public:
  /// Connects to a node and continues with the copy that it has.
  void follow(apps::web_client& web, const std::string& data_url);

  void end() { client_.reset(); }

  /// @param look Sees the present copy.
  template <class Function>
  auto read(Function look) {
    const std::lock_guard lock{guard_};
    return look(copy_);
  }

private:
  std::mutex guard_;
  apps::event_copy copy_;
  /// Ends first, because it writes to the copy.
  std::unique_ptr<channel_client> client_;
};

/// `weir run` with a simulated network, and an application that copies it. The
/// network and the copy outlive each life of the node.
class followed_node {
protected:
  followed_node(uint64_t seed, size_t accounts, uint64_t records)
    : net{seed, accounts, records} {
    // nop
  }

  ~followed_node() { copy.end(); }

  /// Arguments to follow the streams of all hosts (`direct`), or the relay.
  std::vector<std::string> arguments(bool direct,
                                     std::vector<std::string> more) const;

  void run(std::vector<std::string> arguments,
           const std::vector<std::string>& variables = {});

  /// Stops the node in order.
  void stop();

  void kill_node();

  /// How the copy differs from the network; empty when it is equal.
  std::string difference();

  bool await_equal();

  /// Injects a fault into one account, or into all when no number is given;
  /// with `count` 0 it lasts until it is ended.
  void inject(simnet::fault_kind kind, std::optional<size_t> account = {},
              size_t count = 1);

  /// Makes `count` commits of an account.
  void post(size_t account, size_t count = 3);

  /// A value of `/metrics`: the sum over all labels, or over those that contain
  /// `label`.
  uint64_t metric(const char* name, const std::string& label = {});

  followed_network net;
  const temp_dir dir;
  const std::string data = dir.at("data");
  const std::unique_ptr<apps::web_client> web = apps::web_client::make();
  std::unique_ptr<program> node;
  node_addresses at;
  live_copy copy;
};

} // namespace weir::tests
