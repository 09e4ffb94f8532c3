#pragma once

#include "base/clock.hpp"
#include "base/limits_storage.hpp"
#include "base/log.hpp"

#include <cstdint>
#include <string>

namespace weir::actors {

/// Acks of ids that the log never gave out: an older copy of the store was put
/// back, or another node's application is connected. Each is counted, and one in
/// `limits::foreign_ack_interval` is an alarm in the log. One thread.
class foreign_acks {
public:
  /// @param last_id The last one that was given; 0: none was.
  /// @returns whether it was an alarm.
  bool note(const std::string& consumer, uint64_t id, uint64_t last_id,
            steady_time now) {
    ++count_;
    if (count_ > 1 && now < next_alarm_)
      return false;
    next_alarm_ = now + limits::foreign_ack_interval;
    log::warn("foreign_ack",
              {{"consumer", consumer},
               {"id", id},
               {"last_id", last_id},
               {"hint", "this log gave out no event of that id: was an older "
                        "copy of the store put back? Then stop the node and "
                        "run weir adopt on it"}});
    return true;
  }

  uint64_t count() const noexcept { return count_; }

private:
  uint64_t count_ = 0;
  steady_time next_alarm_;
};

} // namespace weir::actors
