#include "actors/supervisor/completeness_laps.hpp"

#include "actors/supervisor/limits_accounts.hpp"

#include <algorithm>

namespace weir::actors {

completeness_laps::completeness_laps(std::chrono::seconds interval)
  : interval_(interval),
    interval_whole_(std::max(interval, limits::completeness_pause_whole)) {}

void completeness_laps::start(steady_time now) {
  due_ = now + interval_;
}

std::optional<atproto::did> completeness_laps::next(steady_time now) {
  if (reading_ || now < due_)
    return std::nullopt;
  if (!runs_)
    after_ = {};
  runs_ = reading_ = true;
  began_ = now;
  return after_;
}

/// @pre a page is being read
void completeness_laps::rest(steady_time now) {
  reading_ = false;
  rested_ = now
            + std::min<std::chrono::microseconds>(
              (now - began_) * limits::completeness_rest_part,
              limits::completeness_pause_max);
}

void completeness_laps::on_page(const atproto::did& last, steady_time now,
                                std::chrono::seconds wait) {
  rest(now);
  after_ = last;
  due_ = std::max(rested_, now + std::chrono::microseconds{wait});
}

void completeness_laps::on_end(bool whole, steady_time now) {
  rest(now);
  runs_ = false;
  due_ = std::max(rested_, now + (whole ? interval_whole_ : interval_));
}

void completeness_laps::hurry(steady_time now) {
  const auto soon = std::max(rested_, now + interval_);
  if (!runs_ && due_ > soon)
    due_ = soon;
}

void completeness_laps::on_failure(steady_time now) {
  reading_ = runs_ = false;
  due_ = now + interval_whole_;
}

std::optional<steady_time> completeness_laps::due() const {
  return reading_ ? std::nullopt : std::optional{due_};
}

} // namespace weir::actors
