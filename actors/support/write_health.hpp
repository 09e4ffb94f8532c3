#pragma once

#include "actors/support/limits_health.hpp"
#include "base/clock.hpp"

#include <optional>
#include <string>

namespace weir::actors {

/// The write to a store that has been under way for the longest time. Nothing
/// is durable while it hangs, so nothing is delivered, and the windows of all
/// streams fill with what waits for it.
struct write_health {
  std::string where; ///< The store.
  std::optional<steady_time> since; ///< None: no write is under way.

  /// Says that it hangs; nothing while it does not.
  std::optional<std::string> judge(steady_time now) const {
    if (!since || now - *since < limits::health_write_max)
      return std::nullopt;
    const auto seconds
      = std::chrono::floor<std::chrono::seconds>(now - *since);
    return "a write to " + where + " has not returned for "
           + std::to_string(seconds.count()) + " seconds";
  }
};

} // namespace weir::actors
