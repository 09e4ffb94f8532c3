#pragma once

#include "base/clock.hpp"

#include <chrono>
#include <cstdint>

namespace weir {

/// Limits how many log lines of one kind are written when an outsider decides
/// how often they occur; otherwise anybody could fill the disk with them. Pure:
/// time is an argument.
///
/// # Threads
/// A value for one thread.
class line_budget {
public:
  enum class verdict : uint8_t {
    line, ///< Write the line.
    last, ///< Write instead that such lines are left out for a while.
    none, ///< Write nothing.
  };

  /// @param most How many lines are written in each `interval` before the note
  /// that further ones are left out.
  line_budget(uint64_t most, std::chrono::microseconds interval) noexcept
    : most_(most), interval_(interval) {}

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
  uint64_t asked_ = 0; ///< Calls in this interval; stops at `most_` + 1.
};

} // namespace weir
