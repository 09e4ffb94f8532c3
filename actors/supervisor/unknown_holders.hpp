#pragma once

#include "actors/supervisor/limits.hpp"
#include "actors/supervisor/listing_machine.hpp"
#include "base/error.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace weir::actors {

/// Tracks which upstreams could not report which repos have records of a signal
/// collection, so that quiet repos of theirs may be missing. The result is
/// reported to HEALTH. No clock, threads or I/O in here.
class unknown_holders {
public:
  /// What is wrong at an upstream. Empty string: the problem is over.
  using report = std::optional<std::string>;

  /// A page came.
  /// @param unanswered Accounts that its host could not describe, or all of its
  ///        accounts when the host denies every one.
  void on_page(const listing_id& what, size_t unanswered) {
    auto& x = listings_[what];
    x.offered = true;
    x.passed_over |= unanswered > 0;
    if (!x.from_the_beginning)
      x.failures = 0;
  }

  /// A page failed, or its host does not describe accounts.
  report on_failed(const listing_id& what, const error& why) {
    auto& x = listings_[what];
    if (why.code == ec::rate_limited) { // Its page goes on where it was.
      x.failures = 0;
      return std::nullopt;
    }
    x.offered = why.code != ec::not_found;
    // The listing is read from its start again, so its earlier pages come
    // before the one that failed.
    x.from_the_beginning = why.code == ec::malformed;
    if (x.from_the_beginning)
      x.passed_over = false;
    if (x.offered && ++x.failures < limits::health_listing_failures_min)
      return std::nullopt;
    x.trouble = "it is not known which accounts there have records of the "
                "signal collection: "
                + to_string(why);
    return trouble_of(what.upstream);
  }

  /// A listing has ended, or is not offered.
  report on_ended(const listing_id& what) {
    auto& x = listings_[what];
    if (!x.offered)
      return std::nullopt;
    const auto passed_over = x.passed_over;
    x = state{};
    if (passed_over)
      x.trouble = "it is not known of some accounts there whether they have "
                  "records of the signal collection: describeRepo failed, or "
                  "knows none of those that are listed";
    return trouble_of(what.upstream);
  }

  /// Whether its last listing covered all accounts.
  bool knows(const listing_id& what) const {
    const auto i = listings_.find(what);
    return i != listings_.end() && i->second.offered && i->second.trouble.empty();
  }

private:
  struct state {
    bool offered = true;
    /// Its last failure made the listing begin anew.
    bool from_the_beginning = false;
    /// Accounts of the run under way were passed over.
    bool passed_over = false;
    size_t failures = 0;             ///< In a row.
    std::string trouble;             ///< Empty: all accounts were answered for.
  };

  /// The problem of the upstream's first listing that has one.
  std::string trouble_of(uint32_t upstream) const {
    for (const auto& [what, x] : listings_)
      if (what.upstream == upstream && !x.trouble.empty())
        return x.trouble;
    return {};
  }

  std::map<listing_id, state> listings_;
};

} // namespace weir::actors
