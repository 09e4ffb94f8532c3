#pragma once

#include "actors/support/limits_health.hpp"
#include "base/clock.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
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

  /// A service that all subjects share works again when every try succeeded for
  /// a while, even if some subjects are not tried any more.
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
    return tries_.size() - count(0);
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

  size_t count(uint8_t reason) const {
    return static_cast<size_t>(
      std::ranges::count(tries_, reason, &try_::reason));
  }

  bool is_most(uint8_t reason) const {
    const auto n = count(reason);
    return n >= failures_min_ && 2 * n > tries_.size();
  }

  /// Replaces the subject's last try, or the oldest of all when there is no
  /// room.
  void put(const try_& x) {
    auto place = std::ranges::find(tries_, x.subject, &try_::subject);
    if (place == tries_.end() && tries_.size() < subjects_max_) {
      tries_.push_back(x);
      return;
    }
    if (place == tries_.end())
      place = std::ranges::min_element(tries_, {}, &try_::at);
    *place = x;
  }

  size_t failures_min_;
  size_t subjects_max_;
  bool keeps_well_;
  std::vector<try_> tries_;
  std::string text_;
  uint8_t failing_ = 0;
  size_t successes_ = 0; ///< Successes since the last failure.
  steady_time failed_at_;
};

/// Whether a service that an option names answers as such a service. No clock
/// or threads in here; bounded.
///
/// Until the service has answered once, its first failure counts, and so does a
/// first question without an answer (`limits::health_answer_grace`), because
/// the option may be wrong. Later it needs as many failures in a row as any
/// other cause (`limits::health_failures_min`).
class service_answers {
public:
  void ask(steady_time now) noexcept {
    if (!has_answered_ && !asked_at_)
      asked_at_ = now;
  }

  /// The question was not needed after all.
  void withdraw() noexcept { asked_at_.reset(); }

  void answer() noexcept {
    has_answered_ = true;
    failures_ = 0;
  }

  void fail(std::string_view text, steady_time now) {
    ++failures_;
    failed_at_ = now;
    text_.assign(text.substr(0, limits::health_text_bytes_max));
  }

  /// The service was asked and has not answered in any way yet.
  bool keeps_waiting(steady_time now) const noexcept {
    return !has_answered_ && failures_ == 0 && asked_at_
           && now - *asked_at_ >= limits::health_answer_grace;
  }

  /// The service was asked, and none of its answers was valid.
  bool never_answered() const noexcept {
    return !has_answered_ && failures_ != 0;
  }

  /// The service never answered, or has failed often enough since.
  bool is_silent(steady_time now) const noexcept {
    return never_answered()
           || (failures_ >= limits::health_failures_min
               && now - failed_at_ <= limits::health_memory_failing);
  }

  /// The service has answered once, and nothing failed recently.
  bool is_stale(steady_time now) const noexcept {
    return has_answered_ && now - failed_at_ > limits::health_memory;
  }

  steady_time failed_at() const noexcept { return failed_at_; }

  /// Text of the last failure.
  const std::string& text() const noexcept { return text_; }

private:
  bool has_answered_ = false;
  size_t failures_ = 0;                 ///< Failures since the last answer.
  std::optional<steady_time> asked_at_; ///< Time of the first question.
  steady_time failed_at_;
  std::string text_;
};

} // namespace weir::actors
