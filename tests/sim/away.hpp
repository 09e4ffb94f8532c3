#pragma once

#include "tests/sim/scene.hpp"

#include <cstdint>
#include <map>
#include <string>

namespace weir::sim {

/// Checks that no records come from accounts that the node knows to be
/// inactive. It looks often, so only runs about such accounts use it.
///
/// # Threads
/// One.
class away_watch {
public:
  /// @returns what is wrong; empty: nothing
  std::string check(scene& x);

private:
  struct absence {
    steady_time since;
    bool is_known = false; ///< The node knows it, and has for long enough.
    uint64_t came = 0;     ///< Number of records that came until then.
  };

  static bool note(absence& x, uint64_t came, steady_time now);

  std::map<std::string, absence> away_; ///< By DID.
};

} // namespace weir::sim
