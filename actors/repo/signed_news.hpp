#pragma once

#include "atproto/verify.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace weir::actors {

/// The rev of a commit whose signature holds: evidence of what time it is.
struct heard_rev {
  uint32_t upstream = 0; ///< 0: of a fetch.
  bool relay = false;
  atproto::tid rev;
  bool sound = true; ///< The rev, too.
};

/// A commit that will not be taken.
struct refused_commit {
  uint32_t upstream = 0;
  atproto::refusal why;
  bool wrong_host = false; ///< The document names `other_host`, or none.
  std::string other_host{};
};

/// What the commits of one repo say about the node that takes them.
struct signed_news {
  std::vector<heard_rev> heard;
  std::vector<refused_commit> refused;
};

} // namespace weir::actors
