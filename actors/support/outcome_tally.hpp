#pragma once

#include "actors/support/limits_health.hpp"
#include "base/clock.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weir::actors {

/// Counts how the last tries of many subjects ended. Each subject counts once,
/// by its last try, however often it fails. Tells whether most fail for one
/// reason. No clock or threads in here; bounded.
class outcome_tally {
public:
  /// @param failures_min Fewer failures never count.
  /// @param keeps_well A subject that succeeded at its last try counts as well,
  /// however long ago that was.
  explicit outcome_tally(size_t failures_min = limits::health_failures_min,
                         size_t subjects_max = limits::health_subjects_max,
                         bool keeps_well = false)
    : failures_min_(failures_min), subjects_max_(subjects_max),
      keeps_well_(keeps_well) {}

  void succeed(uint64_t subject, steady_time now) {
    put({subject, now, 0});
    ++successes_;
  }

  /// @param reason One of a small set, not 0.
  void fail(uint64_t subject, uint8_t reason, std::string_view text,
            steady_time now) {
    put({subject, now, reason});
    failed_at_ = now;
    successes_ = 0;
    text_.assign(text.substr(0, limits::health_text_bytes_max));
  }

  /// Whether most fail now. Once this is so, it stays so until three of four
  /// succeed: a rate near the middle must not be reported again and again.
  /// @returns the reason, or 0.
  uint8_t judge(steady_time now) {
    const auto memory = failing_ == 0
                          ? std::chrono::microseconds{limits::health_memory}
                          : limits::health_memory_failing;
    std::erase_if(tries_, [&](const try_& x) {
      return now - x.at > memory && !(keeps_well_ && x.reason == 0);
    });
    if (failing_ != 0 && 4 * failures() <= tries_.size())
      failing_ = 0;
    uint8_t last = 0;
    for (const auto& x : tries_)
      if (failing_ == 0 && x.reason != std::exchange(last, x.reason)
          && x.reason != 0 && is_most(x.reason))
        failing_ = x.reason;
    return failing_;
  }

  /// For a service that all subjects share: it works again when every try
  /// succeeded for a while, even if some subjects are not tried any more.
  void end_if_calm(steady_time now) {
    if (failing_ == 0 || successes_ < limits::health_successes_min
        || now - failed_at_ < limits::health_calm)
      return;
    std::erase_if(tries_, [](const try_& x) {
      return x.reason != 0;
    });
    failing_ = 0;
  }

  /// Nothing has failed recently: the judgement is that of the last tries.
  bool is_stale(steady_time now) const noexcept {
    return now - failed_at_ > limits::health_memory;
  }

  /// Subjects whose last try failed.
  size_t failures() const {
    return static_cast<size_t>(
      std::count_if(tries_.begin(), tries_.end(), [](const try_& x) {
        return x.reason != 0;
      }));
  }

  /// Text of the last failure.
  const std::string& text() const noexcept { return text_; }

  size_t size() const noexcept { return tries_.size(); }

private:
  struct try_ {
    uint64_t subject = 0;
    steady_time at;
    uint8_t reason = 0;
  };

  bool is_most(uint8_t reason) const {
    const auto n = static_cast<size_t>(
      std::count_if(tries_.begin(), tries_.end(),
                    [reason](const try_& x) { return x.reason == reason; }));
    return n >= failures_min_ && 2 * n > tries_.size();
  }

  /// Replaces the subject's last try, or the oldest of all when there is no
  /// room.
  void put(const try_& x) {
    auto place = std::find_if(tries_.begin(), tries_.end(), [&](const try_& y) {
      return y.subject == x.subject;
    });
    if (place == tries_.end() && tries_.size() < subjects_max_) {
      tries_.push_back(x);
      return;
    }
    if (place == tries_.end())
      place = std::min_element(
        tries_.begin(), tries_.end(),
        [](const try_& a, const try_& b) { return a.at < b.at; });
    *place = x;
  }

  size_t failures_min_;
  size_t subjects_max_;
  bool keeps_well_;
  std::vector<try_> tries_;
  std::string text_;
  uint8_t failing_ = 0;
  size_t successes_ = 0; ///< Since the last failure.
  steady_time failed_at_;
};

} // namespace weir::actors
