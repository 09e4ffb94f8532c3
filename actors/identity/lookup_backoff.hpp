#pragma once

#include "actors/identity/limits.hpp"
#include "actors/support/limits.hpp"
#include "atproto/identifiers.hpp"
#include "base/clock.hpp"
#include "base/error.hpp"

#include <algorithm>
#include <chrono>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace weir::actors {

/// Identities whose last look-up failed, and when each may be looked up again:
/// the pause doubles. When there are too many, the one that failed longest ago
/// is forgotten.
///
/// When many look-ups failed in a row and then one succeeds, the directory was
/// the cause, so earlier failures need not wait. This applies only once in a
/// while: otherwise questions for names that nobody has could end all pauses.
class lookup_backoff {
public:
  explicit lookup_backoff(size_t max) : max_(max) {}

  /// @returns the time at which it may be looked up again.
  steady_time failed(const atproto::did& repo, steady_time now,
                     const error& why) {
    ++in_row_;
    const auto i = failed_.find(repo.str());
    if (i == failed_.end()) {
      if (order_.size() >= max_) {
        failed_.erase(order_.back().repo.str());
        order_.pop_back();
      }
      order_.push_front({repo, limits::lookup_pause_min, {}, {}});
      failed_.emplace(order_.front().repo.str(), order_.begin());
    } else {
      order_.splice(order_.begin(), order_, i->second);
      order_.front().pause = std::min<std::chrono::microseconds>(
        2 * order_.front().pause, limits::lookup_pause_max);
    }
    order_.front().cause = short_text(why);
    return order_.front().until = now + order_.front().pause;
  }

  void succeeded(const atproto::did& repo, steady_time now) {
    if (std::exchange(in_row_, 0) >= limits::lookup_forgiven_min
        && (!forgiven_ || now - *forgiven_ >= limits::lookup_pause_max))
      forgiven_ = now;
    if (const auto known = failed_.extract(repo.str()))
      order_.erase(known.mapped());
  }

  size_t size() const noexcept { return failed_.size(); }

  /// Whether its last look-up failed.
  bool knows(const atproto::did& repo) const {
    return failed_.contains(repo.str());
  }

  /// The end of its pause, while that is not over.
  std::optional<steady_time> until(const atproto::did& repo,
                                   steady_time now) const {
    const auto i = failed_.find(repo.str());
    if (i == failed_.end() || i->second->until <= now)
      return std::nullopt;
    const auto& x = *i->second;
    if (forgiven_ && x.until - *forgiven_ < x.pause)
      return std::nullopt;
    return x.until;
  }

  /// Why its last look-up failed, in words, of which the first
  /// `limits::lookup_cause_bytes_max` bytes are kept.
  /// @returns Empty when it did not fail or the failure was forgotten.
  std::string_view cause(const atproto::did& repo) const {
    const auto i = failed_.find(repo.str());
    return i == failed_.end() ? std::string_view{} : i->second->cause;
  }

private:
  struct failure {
    atproto::did repo;
    std::chrono::microseconds pause;
    steady_time until;
    std::string cause;
  };

  /// Servers influence the text, so it is cut, between two characters.
  static std::string short_text(const error& why) {
    auto out = to_string(why);
    if (out.size() <= limits::lookup_cause_bytes_max)
      return out;
    auto end = limits::lookup_cause_bytes_max;
    while (end > 0 && (out[end] & 0xC0) == 0x80) // It is within a character.
      --end;
    out.resize(end);
    out.shrink_to_fit();
    return out;
  }

  size_t max_;
  size_t in_row_ = 0;                   ///< Failures without a success between.
  std::optional<steady_time> forgiven_; ///< Failures up to then need not wait.
  std::list<failure> order_;            ///< The last one that failed is first.
  std::unordered_map<std::string_view, std::list<failure>::iterator> failed_;
};

} // namespace weir::actors
