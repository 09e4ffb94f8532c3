#pragma once

#include "actors/consumer/delivery_types.hpp"
#include "actors/consumer/limits.hpp"
#include "base/line_budget.hpp"
#include "base/log.hpp"

#include <cstdint>
#include <string>

namespace weir::actors {

/// Names events that were given up in the log of the node. An application that
/// acknowledges nothing makes thousands of them a minute, so after
/// `limits::letter_lines_max` of them one line says where the others are
/// listed. One thread.
class letter_lines {
public:
  /// @param id The id that the application knows.
  /// @returns whether the event was named.
  bool tell(const std::string& consumer, uint64_t id, const dead_letter& x,
            steady_time now) {
    const auto verdict = lines_.take(now);
    if (verdict == line_budget::verdict::last)
      log::warn("dead_letters_unnamed",
                {{"consumer", consumer},
                 {"hint", "more events are given up than are named here: "
                          "GET /v1/dead-letters has all of them"}});
    if (verdict != line_budget::verdict::line)
      return false;
    log::warn("dead_letter", {{"consumer", consumer},
                              {"id", id},
                              {"did", x.did},
                              {"uri", x.uri},
                              {"attempts", x.attempts},
                              {"reason", x.reason}});
    return true;
  }

private:
  line_budget lines_{limits::letter_lines_max, limits::letter_lines_interval};
};

} // namespace weir::actors
