#pragma once

#include "actors/support/completeness_census.hpp"
#include "actors/support/upstream_view.hpp"

#include <set>
#include <string>
#include <vector>

namespace weir::actors {

/// Settings that work and are probably not what was meant, as a look at all rows
/// shows them. Each is told once in the life of a node. No clock, threads or I/O
/// in here.
///
/// # Limits
/// Origins of configured upstreams, of which there are few.
class setup_hints {
public:
  /// The listing of who has records of a signal collection has ended, and those
  /// who have are tracked.
  void on_holders_listed() noexcept { listed_ = true; }

  /// A look at all rows begins.
  void on_look() noexcept { looks_after_ = listed_; }

  /// Relays that are the host of some of the repos.
  std::vector<std::string> pds_relays(const std::vector<upstream_view>& all,
                                      const completeness_census& census) {
    std::vector<std::string> out;
    for (const auto& x : all)
      if (x.relay && census.hosts().contains(x.origin)
          && told_.insert(x.origin).second)
        out.push_back(x.origin);
    return out;
  }

  /// @returns whether the look that has ended found nobody, after a listing of
  ///          those who have records of a signal collection.
  bool finds_nobody(const completeness_census& census) {
    if (!looks_after_ || told_nobody_)
      return false;
    // Whoever was found once may leave again: that is no matter of settings.
    told_nobody_ = true;
    return census.all().active == 0;
  }

private:
  bool listed_ = false;
  bool looks_after_ = false; ///< The look began after the listing.
  bool told_nobody_ = false; ///< Or there was somebody.
  std::set<std::string, std::less<>> told_;
};

} // namespace weir::actors
