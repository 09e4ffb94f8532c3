#include "actors/supervisor/completeness_laps.hpp"

#include "base/limits_completeness.hpp"

#include <algorithm>

namespace weir::actors {

void completeness_laps::start(steady_time now) {
  due_ = now + std::chrono::microseconds{limits::completeness_pause};
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
  const std::chrono::microseconds least
    = whole ? limits::completeness_pause_whole : limits::completeness_pause;
  due_ = std::max(rested_, now + least);
}

void completeness_laps::hurry(steady_time now) {
  const auto soon = std::max(
    rested_, now + std::chrono::microseconds{limits::completeness_pause});
  if (!runs_ && due_ > soon)
    due_ = soon;
}

void completeness_laps::on_failure(steady_time now) {
  reading_ = runs_ = false;
  due_ = now + std::chrono::microseconds{limits::completeness_pause_whole};
}

std::optional<steady_time> completeness_laps::due() const {
  return reading_ ? std::nullopt : std::optional{due_};
}

} // namespace weir::actors
