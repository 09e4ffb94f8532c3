#pragma once

#include "atproto/identifiers.hpp"
#include "base/clock.hpp"
#include "base/error.hpp"

#include <chrono>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace weir::actors {

/// Identities whose last look-up failed, and the time at which each may be
/// looked up again: the pause doubles. When there are too many, the one that
/// failed longest ago is forgotten.
///
/// When many look-ups failed in a row and then one succeeds, the directory was
/// the cause, so earlier failures need not wait. This applies only once in a
/// while: otherwise questions for names that nobody has could end all pauses.
class lookup_backoff {
public:
  explicit lookup_backoff(size_t max) : max_(max) {}

  /// @returns the time at which it may be looked up again.
  steady_time failed(const atproto::did& repo, steady_time now,
                     const error& why);

  void succeeded(const atproto::did& repo, steady_time now);

  size_t size() const noexcept { return failed_.size(); }

  /// Whether its last look-up failed.
  bool knows(const atproto::did& repo) const {
    return failed_.contains(repo.str());
  }

  /// The end of its pause, while that is not over.
  std::optional<steady_time> until(const atproto::did& repo,
                                   steady_time now) const;

  /// For people: why its last look-up failed, the first
  /// `limits::lookup_cause_bytes_max` bytes of that.
  /// @returns Empty when it did not fail or the failure was forgotten.
  std::string_view cause(const atproto::did& repo) const;

private:
  struct failure {
    atproto::did repo;
    std::chrono::microseconds pause;
    steady_time until;
    std::string cause;
  };

  size_t max_;
  size_t in_row_ = 0;                   ///< Failures without a success between.
  std::optional<steady_time> forgiven_; ///< Failures up to then need not wait.
  std::list<failure> order_;            ///< Last failed first.
  std::unordered_map<std::string_view, std::list<failure>::iterator> failed_;
};

} // namespace weir::actors
