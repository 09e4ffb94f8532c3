#pragma once

#include "apps/demo/network.hpp"

#include <map>
#include <string>
#include <vector>

namespace weir::apps {

/// Errors in what the node says about completeness on a quiet network, one
/// sentence for each active account.
struct completeness_findings {
  /// The node does not say that the copy is complete.
  std::vector<std::string> missing;
  /// The node says that the copy is complete, but it differs from the network.
  /// This is never right, not even for a moment.
  std::vector<std::string> wrong;
};

/// @pre all events were delivered
completeness_findings
judge_completeness(simnet::world& truth,
                   const std::map<std::string, listed_repo>& repos);

} // namespace weir::apps
