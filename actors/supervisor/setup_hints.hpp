#pragma once

#include "actors/supervisor/limits_scans.hpp"
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

/// Finds settings that work but are probably not what was meant, from a look at
/// all rows. Each finding is reported once in the life of a node. No clock,
/// threads or I/O in here.
///
/// # Limits
/// The memory is for configured upstreams and signal collections, of which
/// there are few. `collections` is judged when at least
/// `limits::kept_nothing_repos_min` repos were fetched.
class setup_hints {
public:
  /// A listing of the repos with records of a signal collection will be read at
  /// an upstream.
  void on_holders_wanted(const listing_id& what) {
    open_[what.upstream].insert(what.collection);
  }

  /// That listing has ended, and the repos that it named are tracked.
  /// @param known Its host has answered for all accounts.
  void on_holders_listed(const listing_id& what, bool known) {
    if (known)
      open_[what.upstream].erase(what.collection);
  }

  /// A look at all rows begins, in a node with these upstreams.
  void on_look(const std::vector<upstream_view>& all) {
    looks_after_ = std::ranges::all_of(all, [this](const upstream_view& x) {
      const auto found = open_.find(x.id);
      return found != open_.end() && found->second.empty();
    });
  }

  /// The relays that DID documents name as the host of some repos.
  std::vector<std::string> pds_relays(const std::vector<upstream_view>& all,
                                      const completeness_census& census) {
    std::vector<std::string> out;
    for (const auto& x : all)
      if (x.relay && census.hosts().contains(x.origin)
          && reported_.insert(x.origin).second)
        out.push_back(x.origin);
    return out;
  }

  /// @returns whether the look that has ended found no repos, after every
  /// upstream had completed its listings of the signal collections.
  bool finds_nobody(const completeness_census& census) {
    if (!looks_after_ || reported_nobody_)
      return false;
    // Repos that were found may leave again, whatever the settings.
    reported_nobody_ = true;
    return census.all().active == 0;
  }

  /// @param records Records that are stored, of all repos.
  /// @returns whether the look that has ended saw many repos that were fetched
  /// with these `collections`, while not a single record is stored.
  bool keeps_nothing(const completeness_census& census, uint64_t records) {
    const auto& all = census.all();
    const auto lacking = all.without[completeness::synced_term]
                         + all.without[completeness::filter_current_term];
    if (reported_nothing_ || records > 0
        || all.active < limits::kept_nothing_repos_min + lacking)
      return false;
    return reported_nothing_ = true;
  }

private:
  /// The collections of each upstream whose listing is not complete yet.
  std::map<uint32_t, std::set<std::string>> open_;
  /// All listings were complete when the look began.
  bool looks_after_ = false;
  bool reported_nobody_ = false; ///< Reported, or repos were found.
  bool reported_nothing_ = false;
  std::set<std::string, std::less<>> reported_;
};

} // namespace weir::actors
