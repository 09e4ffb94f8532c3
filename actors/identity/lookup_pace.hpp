#pragma once

#include "actors/identity/limits.hpp"
#include "base/clock.hpp"
#include "base/token_bucket.hpp"

#include <algorithm>
#include <chrono>
#include <optional>

namespace weir::actors {

/// How a look-up ended.
struct lookup_outcome {
  bool succeeded = false; ///< There is a document, or a tombstone.
  /// The server said something about the DID, if only that it does not exist.
  bool answered = false;
  bool limited = false; ///< The server answered 429.
};

/// Decides how many look-ups a second the directory gets, by its answers.
///
/// The rate begins at `limits::plc_pace_start` and doubles, at most once in
/// each `limits::plc_pace_interval`, while answers are prompt. An answer that
/// takes longer than `limits::plc_prompt`, or does not come, lowers the rate,
/// down to `limits::plc_pace_min`; from then on it grows by small steps. An
/// answer that limits us (429) halves it, and nothing is asked before the time
/// that the answer names, within `limits::plc_rest_min` and
/// `limits::plc_rest_max`. Look-ups that began before the rate was lowered do
/// not lower it again.
///
/// # Threads
/// A value for one thread. No clock.
class lookup_pace {
public:
  /// @param most Look-ups a second (`plc_per_second`).
  explicit lookup_pace(double most)
    : most_(most), rate_(std::min(most, limits::plc_pace_start)),
      bucket_(rate_, rate_) {}

  /// Look-ups a second at the moment.
  double per_second() const noexcept { return rate_; }

  /// @returns when another look-up may begin; `now` when it may at once.
  steady_time next(steady_time now) const noexcept {
    const auto rested = rests_until_ ? std::max(now, *rests_until_) : now;
    return std::max(rested, now + bucket_.delay(now));
  }

  /// The directory limits us and must not be asked yet.
  bool rests(steady_time now) const noexcept {
    return rests_until_ && now < *rests_until_;
  }

  /// The end of that rest; none: it has not limited us yet.
  std::optional<steady_time> rests_until() const noexcept {
    return rests_until_;
  }

  /// A look-up begins.
  void take(steady_time now) noexcept { bucket_.take(now); }

  /// The directory limited some request: nothing is asked for this time.
  void rest(std::chrono::seconds asked, steady_time now) noexcept {
    const auto until
      = now + std::clamp(asked, limits::plc_rest_min, limits::plc_rest_max);
    rests_until_ = rests_until_ ? std::max(*rests_until_, until) : until;
  }

  /// A look-up that began at `began` has ended.
  void end(const lookup_outcome& how, steady_time began,
           steady_time now) noexcept {
    if (!changed_)
      changed_ = began;
    if (began < *changed_)
      return;
    if (how.limited)
      lower(limits::plc_limited_part, 1, now);
    else if (!how.answered || now - began > limits::plc_prompt)
      lower(limits::plc_slow_part, limits::plc_pace_min, now);
    else if (now - *changed_ >= limits::plc_pace_interval)
      raise(now);
  }

private:
  void lower(double part, double least, steady_time now) noexcept {
    was_lowered_ = true;
    set(std::min(rate_, std::max(rate_ * part, least)), now);
  }

  void raise(steady_time now) noexcept {
    const auto to
      = was_lowered_ ? rate_ + most_ * limits::plc_step_part : rate_ * 2;
    set(std::min(to, most_), now);
  }

  void set(double rate, steady_time now) noexcept {
    rate_ = rate;
    changed_ = now;
    bucket_.set_rate(now, rate, rate);
  }

  double most_;
  double rate_;
  bool was_lowered_ = false;
  token_bucket bucket_;
  std::optional<steady_time> changed_;
  std::optional<steady_time> rests_until_;
};

} // namespace weir::actors
