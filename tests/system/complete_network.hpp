#pragma once

#include "simnet/network.hpp"
#include "tests/system/hostile_node.hpp"

#include <boost/json/object.hpp>

#include <memory>
#include <string>
#include <vector>

namespace weir::tests {

/// A small network, and a node that says which of its copies are whole.
class complete_network {
public:
  /// Which streams the node follows.
  enum class by { relay, hosts };

  static simnet::network_options options(uint64_t seed, bool relay = true);

  explicit complete_network(uint64_t seed,
                            std::vector<std::string> more = {},
                            by streams = by::relay, bool relay = true);

  simnet::network& life() noexcept { return life_; }
  const simnet::network_urls& urls() const noexcept { return urls_; }
  hostile_node& node() noexcept { return *node_; }

  atproto::did did_of(size_t account) {
    return life_.truth().view(account).id;
  }

  void inject(simnet::fault_kind kind, simnet::fault what = {});

  /// `/v1/repos/:did/completeness`.
  boost::json::object told(const atproto::did& repo);

  /// `/v1/completeness` with this query.
  boost::json::object summary(const std::string& query = {});

  /// `/repos/:did`.
  boost::json::object row(const atproto::did& repo);

  /// Why active accounts are not complete, and which are called so although
  /// they differ from the network; empty: all is well.
  std::string difference();

  /// Waits until every active account is complete, and its copy equal.
  bool await_whole();

  /// The same, and then after events of every account.
  bool await_lively();

  /// Of all accounts, in order.
  std::vector<atproto::tid> revs();

  /// How many accounts have another one.
  size_t changed_since(const std::vector<atproto::tid>& before);

  /// Waits until the node counts itself that all of so many are complete.
  bool await_counted(uint64_t active);

private:
  boost::json::object get(const std::string& path);

  std::vector<std::string> upstreams_;
  simnet::network life_;
  simnet::network_urls urls_;
  std::unique_ptr<hostile_node> node_;
  std::unique_ptr<apps::web_client> web_ = apps::web_client::make();
};

} // namespace weir::tests
