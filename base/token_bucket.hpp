#pragma once

#include "base/clock.hpp"

#include <chrono>

namespace weir {

/// Permits at a steady rate with a burst. Pure: time is an argument.
///
/// # Threads
/// A value for one thread.
class token_bucket {
public:
  /// Starts full.
  /// @param per_second Refill; 0 refuses everything once the burst is gone.
  /// @param burst Most permits saved up; at least 1.
  token_bucket(double per_second, double burst) noexcept;

  /// Takes `n` permits if they are there. `n` may exceed the burst only when
  /// the bucket is full; the debt is then paid off first.
  bool take(steady_time now, double n = 1) noexcept;

  /// Takes `n` permits whether they are there or not.
  /// @param debt_max What is then owed at most.
  void charge(steady_time now, double n, double debt_max) noexcept;

  /// How long until `take(n)` succeeds; zero when it does now. Never more than
  /// a day.
  std::chrono::microseconds delay(steady_time now, double n = 1) const noexcept;

  /// Changes the refill from now on; keeps what is saved, up to `burst`.
  void set_rate(steady_time now, double per_second, double burst) noexcept;

  /// Permits that are there; below zero while a debt is paid off.
  double level(steady_time now) const noexcept;

private:
  double per_second_;
  double burst_;
  double level_;
  steady_time updated_;
};

} // namespace weir
