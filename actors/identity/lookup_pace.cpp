#include "actors/identity/lookup_pace.hpp"

#include "actors/identity/limits.hpp"

#include <algorithm>

namespace weir::actors {

namespace {

/// Factor for the rate after an answer that was slow or did not come.
constexpr double slow_part = 0.7;
/// Factor for the rate after an answer that limits us.
constexpr double limited_part = 0.5;
/// Once the rate was lowered, each step up adds this part of the highest rate.
constexpr double step_part = 0.01;

} // namespace

lookup_pace::lookup_pace(double most)
  : most_(most), rate_(std::min(most, limits::plc_pace_start)),
    bucket_(rate_, rate_) {}

steady_time lookup_pace::next(steady_time now) const noexcept {
  const auto rested = rests_until_ ? std::max(now, *rests_until_) : now;
  return std::max(rested, now + bucket_.delay(now));
}

void lookup_pace::rest(std::chrono::seconds asked, steady_time now) noexcept {
  const auto until
    = now + std::clamp(asked, limits::plc_rest_min, limits::plc_rest_max);
  rests_until_ = rests_until_ ? std::max(*rests_until_, until) : until;
}

void lookup_pace::end(const lookup_outcome& how, steady_time began,
                      steady_time now) noexcept {
  if (!changed_)
    changed_ = began;
  if (began < *changed_)
    return;
  if (how.limited)
    lower(std::min(rate_, std::max(rate_ * limited_part, 1.0)), now);
  else if (!how.answered || now - began > limits::plc_prompt)
    lower(std::min(rate_, std::max(rate_ * slow_part, limits::plc_pace_min)),
          now);
  else if (now - *changed_ >= limits::plc_pace_interval)
    raise(now);
}

void lookup_pace::lower(double to, steady_time now) noexcept {
  was_lowered_ = true;
  set(to, now);
}

void lookup_pace::raise(steady_time now) noexcept {
  const auto to = was_lowered_ ? rate_ + most_ * step_part : rate_ * 2;
  set(std::min(to, most_), now);
}

void lookup_pace::set(double rate, steady_time now) noexcept {
  rate_ = rate;
  changed_ = now;
  bucket_.set_rate(now, rate, rate);
}

} // namespace weir::actors
