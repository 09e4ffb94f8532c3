#pragma once

#include "actors/support/limits_health.hpp"
#include "base/clock.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace weir::actors {

/// Whether what an option names as a service answers as one. No clock or threads
/// in here; bounded.
///
/// Until it has answered once the first failure tells that it does not, and so
/// does a first question that waits (`limits::health_answer_grace`): the option
/// may be wrong. Later it takes as many failures in a row as any cause
/// does (`limits::health_failures_min`).
class service_answers {
public:
  void ask(steady_time now) noexcept {
    if (!has_answered_ && !asked_at_)
      asked_at_ = now;
  }

  /// Nobody had to ask it after all.
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

  /// It was asked, and has said nothing at all yet.
  bool keeps_waiting(steady_time now) const noexcept {
    return !has_answered_ && failures_ == 0 && asked_at_
           && now - *asked_at_ >= limits::health_answer_grace;
  }

  /// It was asked, and nothing was an answer of such a service.
  bool never_answered() const noexcept {
    return !has_answered_ && failures_ != 0;
  }

  /// So it is, or so it has been since enough failures.
  bool is_silent(steady_time now) const noexcept {
    return never_answered()
           || (failures_ >= limits::health_failures_min
               && now - failed_at_ <= limits::health_memory_failing);
  }

  /// It has answered once, and nothing failed of late.
  bool is_stale(steady_time now) const noexcept {
    return has_answered_ && now - failed_at_ > limits::health_memory;
  }

  steady_time failed_at() const noexcept { return failed_at_; }

  /// What the last failure said.
  const std::string& text() const noexcept { return text_; }

private:
  bool has_answered_ = false;
  size_t failures_ = 0; ///< Since the last answer.
  std::optional<steady_time> asked_at_; ///< For the first time.
  steady_time failed_at_;
  std::string text_;
};

} // namespace weir::actors
