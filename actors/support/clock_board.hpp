#pragma once

#include "actors/support/clock_machine.hpp"

#include <mutex>

namespace weir::actors {

/// The node's judgement of its wall clock. REPOs and IDENTITY report evidence;
/// NODE's health watch judges it and reads the result, as REPOs do. Any thread.
class clock_board {
public:
  void begin(uint64_t salt, size_t streams) {
    const std::lock_guard guard{mutex_};
    machine_.begin(salt, streams);
  }

  void on_signed(const signed_rev& x, steady_time now, wall_time wall) {
    const std::lock_guard guard{mutex_};
    machine_.on_signed(x, now, wall);
  }

  void on_directory(wall_time date, bool is_proved, steady_time now,
                    wall_time wall) {
    const std::lock_guard guard{mutex_};
    machine_.on_directory(date, is_proved, now, wall);
  }

  clock_verdict verdict(uint32_t upstream, steady_time now,
                        wall_time wall) const {
    const std::lock_guard guard{mutex_};
    return machine_.verdict(upstream, now, wall);
  }

  /// Lets time pass. @returns the state of the clock after that.
  clock_state look(steady_time now, wall_time wall) {
    const std::lock_guard guard{mutex_};
    machine_.on_timer(now, wall);
    return machine_.state(now, wall);
  }

private:
  mutable std::mutex mutex_;
  clock_machine machine_;
};

} // namespace weir::actors
