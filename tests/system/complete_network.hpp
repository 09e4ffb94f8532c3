#pragma once

#include "simnet/network.hpp"
#include "tests/system/hostile_node.hpp"

#include <boost/json/object.hpp>

#include <memory>
#include <string>
#include <vector>

namespace weir::tests {

/// A small network, and a node that reports which of its copies are complete.
class complete_network {
public:
  /// The streams that the node follows.
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

  /// Answer of `/v1/repos/:did/completeness`.
  boost::json::object told(const atproto::did& repo);

  /// Answer of `/v1/completeness` with this query.
  boost::json::object summary(const std::string& query = {});

  /// Answer of `/repos/:did`.
  boost::json::object row(const atproto::did& repo);

  /// Why active accounts are not complete, and which accounts are reported as
  /// complete although their copy differs from the network. Empty when there
  /// are none.
  std::string difference();

  /// Waits until every active account is complete and its copy is equal.
  bool await_whole();

  /// Does so, and again after new events of every account.
  bool await_lively();

  /// The revs of all accounts, in order.
  std::vector<atproto::tid> revs();

  /// The number of accounts whose rev has changed.
  size_t changed_since(const std::vector<atproto::tid>& before);

  /// Waits until the node's own count says that all `active` accounts are
  /// complete.
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
