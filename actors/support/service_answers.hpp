#pragma once

#include "actors/support/limits_health.hpp"
#include "base/clock.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace weir::actors {

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
  size_t failures_ = 0;                 ///< Since the last answer.
  std::optional<steady_time> asked_at_; ///< Time of the first question.
  steady_time failed_at_;
  std::string text_;
};

} // namespace weir::actors
