#pragma once

#include "base/clock.hpp"

#include <chrono>
#include <cstdint>

namespace weir {

/// How many lines of one kind the log gets when somebody else decides how many
/// there could be: the disk must not fill with them. Pure: time is an argument.
///
/// # Threads
/// A value for one thread.
class line_budget {
public:
  enum class verdict : uint8_t {
    line, ///< Write it.
    last, ///< Write that for a while no more follow.
    none, ///< Write nothing.
  };

  /// @param most Lines within `interval`, before the last.
  line_budget(uint64_t most, std::chrono::microseconds interval) noexcept
    : most_(most), interval_(interval) {
    // nop
  }

  verdict take(steady_time now) noexcept {
    if (asked_ == 0 || now - began_ >= interval_) {
      began_ = now;
      asked_ = 0;
    }
    if (asked_ > most_)
      return verdict::none;
    return asked_++ < most_ ? verdict::line : verdict::last;
  }

private:
  uint64_t most_;
  std::chrono::microseconds interval_;
  steady_time began_;
  uint64_t asked_ = 0; ///< Since then, at most one more than `most_`.
};

} // namespace weir
