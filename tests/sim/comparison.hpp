#pragma once

#include "apps/weir/demo_copy.hpp"
#include "apps/weir/demo_network.hpp"
#include "simnet/truth.hpp"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace weir::sim {

/// What may differ, and why.
struct allowances {
  /// Some upstream is a relay: what it took down is taken down here.
  bool relayed = false;
  /// The application acks nothing: what is under way when a connection ends is
  /// gone (`consumer_disable_acks`), so its copy is not compared.
  bool unacked = false;
  /// Streams lost events: a handle that changed meanwhile is learnt with the
  /// next #identity of its account, so handles are not compared.
  bool lost_events = false;
  /// Accounts with a tombstone that no stream told of: they may be known as
  /// active, or as deleted.
  std::set<std::string> untold;
};

/// How the node and the application differ from the network; empty: not at all.
std::string difference(const std::vector<simnet::expected_account>& truth,
                       const std::map<std::string, apps::listed_repo>& node,
                       const apps::event_copy& copy, const allowances& may);

} // namespace weir::sim
