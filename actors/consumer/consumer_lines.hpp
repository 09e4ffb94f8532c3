#pragma once

#include "actors/consumer/delivery_types.hpp"
#include "actors/consumer/limits.hpp"
#include "base/clock.hpp"
#include "base/line_budget.hpp"
#include "base/log.hpp"

#include <cstdint>
#include <string>

namespace weir::actors {

/// Messages of an application that acknowledge nothing: the event that was
/// meant is sent again and ends as a dead letter. Each is counted, and one of
/// each kind in an interval is a warning in the log. That others are left out
/// (`line_budget::verdict::last`) is not written, on purpose: the counters say
/// how many there were. One thread.
class useless_acks {
public:
  /// An id that the log never gave out: an older copy of the store was
  /// restored, or another node's application is connected. One in
  /// `limits::foreign_ack_interval` is an alarm.
  /// @param last_id The last id that was given out; 0: none was.
  /// @returns whether it was an alarm.
  bool note_foreign(const std::string& consumer, uint64_t id, uint64_t last_id,
                    steady_time now) {
    ++foreign_;
    if (foreign_lines_.take(now) != line_budget::verdict::line)
      return false;
    log::warn("foreign_ack",
              {{"consumer", consumer},
               {"id", id},
               {"last_id", last_id},
               {"hint", "this log gave out no event of that id: was an older "
                        "copy of the store put back? Then stop the node and "
                        "run weir adopt on it"}});
    return true;
  }

  /// A message that is no ack. One in `limits::refused_ack_interval` is a
  /// warning.
  /// @returns whether it was a warning.
  bool note_bad(const std::string& consumer, const std::string& reason,
                steady_time now) {
    ++bad_;
    if (bad_lines_.take(now) != line_budget::verdict::line)
      return false;
    log::warn("bad_ack",
              {{"consumer", consumer},
               {"reason", reason},
               {"hint", R"(an ack is {"type":"ack","id":7}, with the number that )"
                        "stood in the event"}});
    return true;
  }

  uint64_t foreign() const noexcept { return foreign_; }
  uint64_t bad() const noexcept { return bad_; }

private:
  uint64_t foreign_ = 0;
  uint64_t bad_ = 0;
  line_budget foreign_lines_{1, limits::foreign_ack_interval};
  line_budget bad_lines_{1, limits::refused_ack_interval};
};

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
