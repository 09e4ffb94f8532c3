#pragma once

#include "base/clock.hpp"
#include "base/limits_storage.hpp"
#include "base/log.hpp"

#include <cstdint>
#include <string>

namespace weir::actors {

/// Messages of an application that are no acks, and so acknowledge nothing: what
/// they were meant for comes again, and ends as a dead letter. Each is counted,
/// and one in `limits::refused_ack_interval` is a warning in the log. One thread.
class refused_acks {
public:
  /// @returns whether it was a warning.
  bool note(const std::string& consumer, const std::string& reason,
            steady_time now) {
    ++count_;
    if (count_ > 1 && now < next_warning_)
      return false;
    next_warning_ = now + limits::refused_ack_interval;
    log::warn("bad_ack",
              {{"consumer", consumer},
               {"reason", reason},
               {"hint", R"(an ack is {"type":"ack","id":7}, with the number that )"
                        "stood in the event"}});
    return true;
  }

  uint64_t count() const noexcept { return count_; }

private:
  uint64_t count_ = 0;
  steady_time next_warning_;
};

} // namespace weir::actors
