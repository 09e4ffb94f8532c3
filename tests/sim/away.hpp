#pragma once

#include "tests/sim/scene.hpp"

#include <cstdint>
#include <map>
#include <string>

namespace weir::sim {

/// Whether records come of accounts that the node knows to be away. Only in runs
/// about that, because it takes many looks.
///
/// # Threads
/// One.
class away_watch {
public:
  /// @returns what is wrong; empty: nothing.
  std::string check(scene& x);

private:
  struct absence {
    steady_time since;
    bool is_known = false; ///< To the node, and long enough.
    uint64_t came = 0;     ///< Records until it was.
  };

  static bool note(absence& x, uint64_t came, steady_time now);

  std::map<std::string, absence> away_; ///< By DID.
};

} // namespace weir::sim
