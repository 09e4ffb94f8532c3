#pragma once

#include "base/clock.hpp"

#include <chrono>

namespace weir {

/// Permits that refill at a steady rate up to a limit (token bucket). Pure:
/// time is an argument.
///
/// # Threads
/// A value for one thread.
class token_bucket {
public:
  /// Starts full.
  /// @param per_second Permits added per second; 0 adds none.
  /// @param burst The most permits that can be saved up; at least 1.
  token_bucket(double per_second, double burst) noexcept;

  /// Takes `n` permits if they are there. An `n` above `burst` needs a full
  /// bucket; the level is negative afterwards and must first refill above zero.
  bool take(steady_time now, double n = 1) noexcept;

  /// Takes `n` permits whether they are there or not.
  /// @param debt_max The call never brings the level below minus this.
  void charge(steady_time now, double n, double debt_max) noexcept;

  /// How long until `take(n)` succeeds; zero when it does now. Never more than
  /// a day.
  std::chrono::microseconds delay(steady_time now, double n = 1) const noexcept;

  /// Changes the rate from now on. Saved permits are kept, up to `burst`.
  void set_rate(steady_time now, double per_second, double burst) noexcept;

  /// Permits that are there now; negative after more were taken.
  double level(steady_time now) const noexcept;

private:
  double per_second_;
  double burst_;
  double level_;
  steady_time updated_;
};

} // namespace weir
