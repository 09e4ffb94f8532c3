#pragma once

#include "actors/supervisor/limits_accounts.hpp"
#include "atproto/identifiers.hpp"
#include "base/clock.hpp"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

namespace weir::actors {

struct question_turn_options {
  size_t running_max = limits::account_questions_running_max;
  size_t per_site = limits::account_questions_per_site_max;
  size_t per_host = limits::account_questions_per_host_max;
  size_t resting_max = limits::account_resting_hosts_max;
};

/// Decides which question is asked next: sites (`site_of`) in turn, the hosts
/// of each site in turn, and few at a time of each. A host that rests is passed
/// over. When more than `resting_max` hosts rest, the one with the shortest
/// remaining rest is forgotten.
class question_turns {
public:
  explicit question_turns(question_turn_options options) : options_(options) {}

  /// Identifies a question that waits for its turn.
  using ticket = uint64_t;

  struct turn {
    atproto::did repo;
    std::string pds;
  };

  ticket add(const atproto::did& repo, const std::string& pds);

  /// @pre `next` did not return the ticket
  void remove(ticket x, const std::string& pds);

  /// Takes the next question; it is under way from now on.
  std::optional<turn> next(steady_time now);

  /// A question that was under way was answered.
  void finish(const std::string& pds);

  void rest(const std::string& pds, steady_time until);

  /// When a host may be asked again.
  std::optional<steady_time> due() const;

  size_t resting() const noexcept { return rests_.size(); }

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

  host& open(const std::string& pds);
  void settle(const std::string& pds);
  void wake(std::set<std::pair<steady_time, std::string>>::iterator x);
// Hosts with questions that wait or run.
  question_turn_options options_;
  /// Hosts that have questions or are remembered.
  std::unordered_map<std::string, host> hosts_;
  std::unordered_map<std::string, site> sites_;
  std::map<uint64_t, std::string> turns_; ///< Sites that may be asked.
  std::unordered_map<std::string, steady_time> rests_;
  std::set<std::pair<steady_time, std::string>> rest_ends_;
  size_t running_ = 0;
  uint64_t count_ = 0;
};

} // namespace weir::actors
