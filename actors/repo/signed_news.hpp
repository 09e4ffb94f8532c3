#pragma once

#include "atproto/verify.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace weir::actors {

/// The rev of a commit whose signature is valid: evidence of the time.
struct heard_rev {
  uint32_t upstream = 0; ///< 0: from a fetch.
  bool relay = false;
  atproto::tid rev;
  bool sound = true; ///< The rev was acceptable, too.
};

/// A commit that was refused for good.
struct refused_commit {
  uint32_t upstream = 0;
  atproto::refusal why;
  bool wrong_host = false; ///< The document names `other_host`, or no host.
  std::string other_host{};
};

/// What the commits of one repo report to the health and clock checks of the
/// node.
struct signed_news {
  std::vector<heard_rev> heard;
  std::vector<refused_commit> refused;
};

} // namespace weir::actors
