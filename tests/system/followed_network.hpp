#pragma once

#include "apps/demo/copy.hpp"
#include "apps/demo/network.hpp"
#include "simnet/network.hpp"
#include "tests/system/config_program.hpp"

#include <functional>
#include <string>
#include <vector>

namespace weir::tests {

/// A simulated network on real sockets, which lives in the test and so outlives
/// every node that follows it.
class followed_network {
public:
  followed_network(uint64_t seed, size_t accounts, uint64_t records,
                   const simnet::traffic_mix& mix = {}, size_t hosts = 3);

  simnet::network& life() noexcept { return life_; }

  const simnet::network_urls& urls() const noexcept { return urls_; }

  /// What `weir run` needs to follow all of it through the relay, with the
  /// short waits of conf/demo.toml and free ports.
  std::vector<std::string> arguments(const std::string& data_dir,
                                     std::vector<std::string> more = {}) const;

  /// How a copy made from events differs from the network: records by CID of
  /// every active account, and for the others that the copy knows why they are
  /// away. Empty when it is equal.
  /// @param left_out This account is not looked at.
  std::string difference(const apps::event_copy& copy,
                         const std::string& left_out = {});

private:
  simnet::network life_;
  simnet::network_urls urls_;
};

/// Where a node listens; both empty when the line is no ready line.
struct node_addresses {
  std::string data;
  std::string operations;
};

node_addresses parse_ready(const std::string& line);

/// Answer of `/status`. Throws when there is none.
apps::node_status status_of(apps::web_client& web, const node_addresses& at);

/// Repos whose accounts are active, by what there is to do for them.
struct repo_work {
  uint64_t none = 0;   ///< In sync.
  uint64_t open = 0;   ///< Waiting for a fetch, or in one.
  uint64_t failed = 0; ///< To be tried again.
};

/// As the first page of `/repos` says, of a thousand at most.
repo_work work_of(apps::web_client& web, const node_addresses& at);

/// Looks again and again, where nothing signals, until it is as expected.
bool eventually(std::chrono::seconds at_most,
                const std::function<bool()>& reached);

/// The last lines, for a failure's message.
std::string tail_of(const std::string& text, size_t lines = 40);

} // namespace weir::tests
