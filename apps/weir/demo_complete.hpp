#pragma once

#include "apps/weir/demo_network.hpp"

#include <map>
#include <string>
#include <vector>

namespace weir::apps {

/// What the node says of completeness on a network that is quiet: active
/// accounts of which it does not say that their copies are whole, and those of
/// which it does although they are not what the network has. A sentence each.
std::vector<std::string>
not_whole(simnet::world& truth,
          const std::map<std::string, listed_repo>& repos);

} // namespace weir::apps
