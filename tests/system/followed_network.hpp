#pragma once

#include "apps/demo/copy.hpp"
#include "apps/demo/network.hpp"
#include "simnet/network.hpp"
#include "tests/system/config_program.hpp"

#include <functional>
#include <string>
#include <vector>

namespace weir::tests {

/// A simulated network on real sockets. It lives in the test's process and so
/// outlives every node that follows it.
class followed_network {
public:
  followed_network(uint64_t seed, size_t accounts, uint64_t records,
                   const simnet::traffic_mix& mix = {}, size_t hosts = 3);

  simnet::network& life() noexcept { return life_; }

  const simnet::network_urls& urls() const noexcept { return urls_; }

  /// The arguments with which `weir run` follows the whole network through the
  /// relay, with the short waits of conf/demo.toml and free ports.
  std::vector<std::string> arguments(const std::string& data_dir,
                                     std::vector<std::string> more = {}) const;

  /// How a copy that was made from events differs from the network. Compared
  /// are the CIDs of all records of active accounts, and for other accounts
  /// that the copy knows the reason of their absence. Empty when it is equal.
  /// @param left_out This account is not compared.
  std::string difference(const apps::event_copy& copy,
                         const std::string& left_out = {});

private:
  simnet::network life_;
  simnet::network_urls urls_;
};

/// The addresses of a node; both empty when the line is not a ready line.
struct node_addresses {
  std::string data;
  std::string operations;
};

node_addresses parse_ready(const std::string& line);

/// The answer of `/status`. Throws when there is none.
apps::node_status status_of(apps::web_client& web, const node_addresses& at);

/// The number of active repos by the work that is left to do for them.
struct repo_work {
  uint64_t none = 0; ///< Repos that are in sync.
  uint64_t open = 0; ///< Repos that wait for a fetch or are being fetched.
  /// Repos whose fetch has failed and will be tried again.
  uint64_t failed = 0;
};

/// The work according to the first page of `/repos`, so of a thousand at most.
repo_work work_of(apps::web_client& web, const node_addresses& at);

/// Asks `reached` repeatedly until it is true, where no signal exists; false
/// when that took longer than `at_most`.
bool eventually(std::chrono::seconds at_most,
                const std::function<bool()>& reached);

/// The last lines of a text, for the message of a failure.
std::string tail_of(const std::string& text, size_t lines = 40);

} // namespace weir::tests
