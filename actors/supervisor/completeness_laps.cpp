#include "actors/supervisor/completeness_laps.hpp"

#include "base/limits_completeness.hpp"

#include <algorithm>
#include <functional>

namespace weir::actors {

void completeness_laps::start(steady_time now) {
  due_ = now + std::chrono::microseconds{limits::completeness_pause};
}

std::optional<atproto::did> completeness_laps::next(steady_time now) {
  if (reading_ || now < due_)
    return std::nullopt;
  if (!runs_) {
    runs_ = true;
    began_ = now;
    after_ = {};
  }
  reading_ = true;
  return after_;
}

void completeness_laps::on_page(const atproto::did& last, steady_time now,
                                std::chrono::seconds wait) {
  reading_ = false;
  after_ = last;
  due_ = now + wait;
}

void completeness_laps::on_end(bool whole, steady_time now) {
  reading_ = runs_ = false;
  const std::chrono::microseconds least
    = whole ? limits::completeness_pause_whole : limits::completeness_pause;
  last_rest_ = std::min<std::chrono::microseconds>(
    (now - began_) * limits::completeness_rest_part,
    limits::completeness_pause_max);
  due_ = now + std::max(last_rest_, least);
}

void completeness_laps::hurry(steady_time now) {
  const std::chrono::microseconds least = limits::completeness_pause;
  const auto soon = now + std::max(least, last_rest_);
  if (!runs_ && due_ > soon)
    due_ = soon;
}

void completeness_laps::on_failure(steady_time now) {
  reading_ = runs_ = false;
  due_ = now + std::chrono::microseconds{limits::completeness_pause_whole};
}

bool completeness_laps::may_ask(const std::string& pds, steady_time now) {
  if (!asked_since_ || now - *asked_since_ >= std::chrono::hours{1}) {
    asked_since_ = now;
    asked_->fill(0);
  }
  auto& count = (*asked_)[std::hash<std::string>{}(pds) % asked_->size()];
  return count < limits::uncovered_asked_per_host && ++count > 0;
}

std::optional<steady_time> completeness_laps::due() const {
  return reading_ ? std::nullopt : std::optional{due_};
}

} // namespace weir::actors
