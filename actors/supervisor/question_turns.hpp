#pragma once

#include "actors/supervisor/limits_accounts.hpp"
#include "actors/support/site.hpp"
#include "atproto/identifiers.hpp"
#include "base/clock.hpp"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

namespace weir::actors {

/// Decides which question is asked next: sites (`site_of`) in turn, the hosts
/// of each site in turn, and few at a time of each. A host that rests is passed
/// over. When more than `limits::account_resting_hosts_max` hosts rest, the one
/// with the shortest remaining rest is forgotten.
class question_turns {
public:
  /// Identifies a question that waits for its turn.
  using ticket = uint64_t;

  struct turn {
    atproto::did repo;
    std::string pds;
  };

  ticket add(const atproto::did& repo, const std::string& pds) {
    const auto out = ++count_;
    open(pds).ready.emplace(out, repo);
    settle(pds);
    return out;
  }

  /// @pre `next` did not return the ticket
  void remove(ticket x, const std::string& pds) {
    hosts_.at(pds).ready.erase(x);
    settle(pds);
  }

  /// Takes the next question; it is under way from now on.
  std::optional<turn> next(steady_time now) {
    while (!rest_ends_.empty() && rest_ends_.begin()->first <= now)
      wake(rest_ends_.begin());
    if (running_ >= limits::account_questions_running_max || turns_.empty())
      return std::nullopt;
    auto& from = sites_.at(turns_.begin()->second);
    turn out{{}, from.hosts.begin()->second};
    auto& at = hosts_.at(out.pds);
    out.repo = std::move(at.ready.extract(at.ready.begin()).mapped());
    ++running_;
    ++from.running;
    ++at.running;
    // Both go to the end.
    turns_.erase(std::exchange(from.place, 0));
    from.hosts.erase(std::exchange(at.place, 0));
    settle(out.pds);
    return out;
  }

  /// A question that was under way was answered.
  void finish(const std::string& pds) {
    auto& at = hosts_.at(pds);
    --at.running;
    --sites_.at(at.site).running;
    --running_;
    settle(pds);
  }

  void rest(const std::string& pds, steady_time until) {
    const auto [i, first] = rests_.emplace(pds, until);
    if (!first) {
      if (until <= i->second)
        return;
      rest_ends_.erase({std::exchange(i->second, until), pds});
    }
    rest_ends_.emplace(until, pds);
    if (rests_.size() > limits::account_resting_hosts_max)
      wake(rest_ends_.begin());
    settle(pds);
  }

  /// @returns when a host may be asked again.
  std::optional<steady_time> due() const {
    return rest_ends_.empty() ? std::nullopt
                              : std::optional{rest_ends_.begin()->first};
  }

private:
  struct host {
    std::string site;
    std::map<ticket, atproto::did> ready;
    size_t running = 0;
    /// Its place among the hosts of its site; 0: it has to wait.
    uint64_t place = 0;
  };

  struct site {
    std::map<uint64_t, std::string> hosts; ///< The hosts that may be asked.
    size_t known = 0;
    size_t running = 0;
    uint64_t place = 0; ///< Its place among all sites.
  };

  host& open(const std::string& pds) {
    const auto [i, first] = hosts_.try_emplace(pds);
    if (first) {
      i->second.site = site_of(pds);
      ++sites_[i->second.site].known;
    }
    return i->second;
  }

  /// Gives a host and its site their places in the order, or takes them away.
  void settle(const std::string& pds) {
    const auto i = hosts_.find(pds);
    if (i == hosts_.end())
      return;
    auto& at = i->second;
    auto& of = sites_.at(at.site);
    const auto may_host
      = !at.ready.empty() && !rests_.contains(pds)
        && at.running < limits::account_questions_per_host_max;
    if (may_host && at.place == 0)
      of.hosts.emplace(at.place = ++count_, pds);
    else if (!may_host && at.place != 0)
      of.hosts.erase(std::exchange(at.place, 0));
    const auto may_site
      = !of.hosts.empty()
        && of.running < limits::account_questions_per_site_max;
    if (may_site && of.place == 0)
      turns_.emplace(of.place = ++count_, at.site);
    else if (!may_site && of.place != 0)
      turns_.erase(std::exchange(of.place, 0));
    if (!at.ready.empty() || at.running > 0)
      return;
    if (--of.known == 0)
      sites_.erase(at.site);
    hosts_.erase(i);
  }

  void wake(std::set<std::pair<steady_time, std::string>>::iterator x) {
    const auto pds = std::move(rest_ends_.extract(x).value().second);
    rests_.erase(pds);
    settle(pds);
  }

  /// Hosts with questions that wait or run.
  std::unordered_map<std::string, host> hosts_;
  std::unordered_map<std::string, site> sites_;
  std::map<uint64_t, std::string> turns_; ///< Sites that may be asked.
  std::unordered_map<std::string, steady_time> rests_;
  std::set<std::pair<steady_time, std::string>> rest_ends_;
  size_t running_ = 0;
  uint64_t count_ = 0;
};

} // namespace weir::actors
