#pragma once

#include "actors/node/node.hpp"
#include "apps/demo/demo.hpp"
#include "apps/weir/web_client.hpp"
#include "simnet/network.hpp"

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>

namespace weir::apps {

/// One repo as the node lists it.
struct listed_repo {
  std::string status;
  std::string rev; ///< Empty before the first fetch.
  uint64_t records = 0;
  bool complete = false; ///< Proved equal to its source.
  std::string reason;    ///< Why it is not complete.
};

/// The node's `/status`.
struct node_status {
  uint64_t repos = 0;
  uint64_t synced = 0;
  uint64_t records = 0;
  uint64_t log_end = 0;
  uint64_t outbox = 0; ///< Events that the consumer has not acked or given up.
};

/// Everything that the demo runs in one process: a simulated network on real
/// sockets, and a node with its data in a new temporary directory.
///
/// # Ownership and threads
/// The main thread owns and calls it.
class demo_network {
public:
  explicit demo_network(const demo_options& options);

  /// Stops everything. Removes the directory unless `keep_data` was called.
  ~demo_network();

  demo_network(const demo_network&) = delete;
  demo_network& operator=(const demo_network&) = delete;

  result<void> start_network();

  /// Starts the node, on the usual ports when they are free.
  result<void> start_node(std::function<void(const error&)> on_failure);

  void stop_node() {
    if (node_)
      node_->stop();
    node_.reset();
  }

  void keep_data() noexcept { keep_ = true; }

  result<node_status> status();

  /// All repos, by DID.
  result<std::map<std::string, listed_repo>> repos();

  /// The node's `/metrics`.
  result<std::string> metrics();

  simnet::network& life() noexcept { return life_; }

  const simnet::network_urls& urls() const noexcept { return urls_; }

  /// @pre the node runs
  const actors::node& node() const noexcept { return *node_; }

  web_client& web() noexcept { return *web_; }

  const std::filesystem::path& data_dir() const noexcept { return data_dir_; }

private:
  result<void> make_directory();
  actors::node_config make_config(bool usual_ports) const;

  const demo_options options_;
  std::unique_ptr<web_client> web_;
  simnet::network life_;
  simnet::network_urls urls_;
  std::filesystem::path data_dir_;
  std::unique_ptr<actors::node> node_;
  std::string data_url_;
  std::string operations_url_;
  bool keep_ = false;
};

} // namespace weir::apps
