#pragma once

#include "apps/weir/demo_network.hpp"

#include <map>
#include <string>
#include <vector>

namespace weir::apps {

/// What the node says of completeness on a network that is quiet. A sentence for
/// each active account.
struct completeness_findings {
  std::vector<std::string> missing; ///< It does not say that this copy is whole.
  /// It does, and the copy is not what the network has: that is never right, not
  /// even for a while.
  std::vector<std::string> wrong;
};

/// @pre all events were delivered
completeness_findings
judge_completeness(simnet::world& truth,
                   const std::map<std::string, listed_repo>& repos);

} // namespace weir::apps
