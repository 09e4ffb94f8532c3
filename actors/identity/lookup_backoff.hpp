#pragma once

#include "atproto/identifiers.hpp"
#include "base/clock.hpp"

#include <chrono>
#include <list>
#include <optional>
#include <unordered_map>

namespace weir::actors {

/// Identities whose last look-up failed, and when each is looked up again: the
/// pause doubles. Of too many the one that failed longest ago is forgotten.
class lookup_backoff {
public:
  explicit lookup_backoff(size_t max) : max_(max) {
    // nop
  }

  /// @returns when it may be looked up again.
  steady_time failed(const atproto::did& repo, steady_time now);

  void succeeded(const atproto::did& repo);

  /// Its last look-up failed.
  bool knows(const atproto::did& repo) const { return failed_.contains(repo); }

  /// Set while its pause is not over: the end of that.
  std::optional<steady_time> until(const atproto::did& repo,
                                   steady_time now) const;

private:
  struct failure {
    std::chrono::microseconds pause;
    steady_time until;
    std::list<atproto::did>::iterator place;
  };

  size_t max_;
  std::unordered_map<atproto::did, failure> failed_;
  std::list<atproto::did> order_; ///< Last failed first.
};

} // namespace weir::actors
