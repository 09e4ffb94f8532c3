#include "base/token_bucket.hpp"

#include <algorithm>

namespace weir {

token_bucket::token_bucket(double per_second, double burst) noexcept
  : per_second_(std::max(per_second, 0.0)), burst_(std::max(burst, 1.0)),
    level_(burst_) {}

double token_bucket::level(steady_time now) const noexcept {
  auto elapsed = std::max<int64_t>((now - updated_).count(), 0);
  return std::min(burst_,
                  level_ + static_cast<double>(elapsed) * per_second_ / 1e6);
}

bool token_bucket::take(steady_time now, double n) noexcept {
  auto have = level(now);
  if (have < std::min(n, burst_))
    return false;
  level_ = have - n;
  updated_ = std::max(now, updated_);
  return true;
}

void token_bucket::charge(steady_time now, double n, double debt_max) noexcept {
  const auto have = level(now);
  level_ = std::max(have - n, std::min(have, -debt_max));
  updated_ = std::max(now, updated_);
}

std::chrono::microseconds token_bucket::delay(steady_time now,
                                              double n) const noexcept {
  constexpr std::chrono::microseconds day = std::chrono::hours{24};
  auto missing = std::min(n, burst_) - level(now);
  if (missing <= 0)
    return {};
  auto micros = missing * 1e6 / per_second_; // Infinite for a rate of zero.
  if (!(micros < static_cast<double>(day.count())))
    return day;
  return std::chrono::microseconds{static_cast<int64_t>(micros) + 1};
}

void token_bucket::set_rate(steady_time now, double per_second,
                            double burst) noexcept {
  auto have = level(now);
  per_second_ = std::max(per_second, 0.0);
  burst_ = std::max(burst, 1.0);
  level_ = std::min(have, burst_);
  updated_ = std::max(now, updated_);
}

} // namespace weir
