#pragma once

#include <chrono>
#include <cstdint>

namespace weir {

/// Time for timeouts and back-off, in microseconds since an unspecified start.
/// It never jumps.
struct steady_time {
  int64_t micros = 0;

  friend auto operator<=>(const steady_time&, const steady_time&) = default;

  steady_time operator+(std::chrono::microseconds x) const noexcept {
    return {micros + x.count()};
  }

  std::chrono::microseconds operator-(steady_time x) const noexcept {
    return std::chrono::microseconds{micros - x.micros};
  }
};

/// Wall-clock time, in microseconds since 1970 UTC. It is used to judge a rev
/// from the future, for the age of stored rows, and for display. It may jump,
/// so nothing waits by it (architecture.md, A wrong clock).
struct wall_time {
  int64_t micros = 0;

  friend auto operator<=>(const wall_time&, const wall_time&) = default;

  wall_time operator+(std::chrono::microseconds x) const noexcept {
    return {micros + x.count()};
  }

  int64_t seconds() const noexcept { return micros / 1'000'000; }
};

/// The clock seam. Everything in `atproto`, `storage` and `actors` reads time
/// through this interface, so that a simulation owns it.
///
/// # Threads
/// All calls are safe from any thread.
class clock {
public:
  virtual ~clock() = default;

  virtual steady_time steady_now() const noexcept = 0;

  virtual wall_time wall_now() const noexcept = 0;
};

/// The machine's own clock. Static lifetime.
const clock& system_clock() noexcept;

} // namespace weir
