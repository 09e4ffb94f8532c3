#pragma once

#include "actors/supervisor/limits_completeness.hpp"
#include "actors/supervisor/listing_machine.hpp"
#include "actors/support/completeness_census.hpp"
#include "actors/support/upstream_view.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace weir::actors {

/// Settings that work and are probably not what was meant, as a look at all rows
/// shows them. Each is told once in the life of a node. No clock, threads or I/O
/// in here.
///
/// # Limits
/// Configured upstreams and signal collections, of which there are few; `collections`
/// is judged from `limits::kept_nothing_repos_min` repos on.
class setup_hints {
public:
  /// It will be listed who has records of a signal collection at an upstream.
  void on_holders_wanted(const listing_id& what) {
    open_[what.upstream].insert(what.collection);
  }

  /// That listing has ended, and those who have some are tracked.
  /// @param known Its host has told of everybody.
  void on_holders_listed(const listing_id& what, bool known) {
    if (known)
      open_[what.upstream].erase(what.collection);
  }

  /// A look at all rows begins, of a node with these upstreams.
  void on_look(const std::vector<upstream_view>& all) {
    looks_after_ = std::ranges::all_of(all, [this](const upstream_view& x) {
      const auto found = open_.find(x.id);
      return found != open_.end() && found->second.empty();
    });
  }

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

  /// @returns whether the look that has ended found nobody, after every upstream
  ///          had told who has records of the signal collections.
  bool finds_nobody(const completeness_census& census) {
    if (!looks_after_ || told_nobody_)
      return false;
    // Whoever was found once may leave again: that is no matter of settings.
    told_nobody_ = true;
    return census.all().active == 0;
  }

  /// @param records That are held, of all repos; `collections` left out others.
  /// @returns whether the look that has ended saw many repos that were fetched
  ///          with these `collections`, and nothing of any is held.
  bool keeps_nothing(const completeness_census& census, uint64_t records) {
    const auto& all = census.all();
    const auto lacking = all.without[completeness::synced_term]
                         + all.without[completeness::filter_current_term];
    if (told_nothing_ || records > 0
        || all.active < limits::kept_nothing_repos_min + lacking)
      return false;
    return told_nothing_ = true;
  }

private:
  /// By upstream: collections of which it has not told yet who has some.
  std::map<uint32_t, std::set<std::string>> open_;
  bool looks_after_ = false; ///< The look began when all had told.
  bool told_nobody_ = false; ///< Or there was somebody.
  bool told_nothing_ = false;
  std::set<std::string, std::less<>> told_;
};

} // namespace weir::actors
