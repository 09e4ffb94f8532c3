#pragma once

#include "actors/supervisor/limits_accounts.hpp"
#include "actors/supervisor/question_places.hpp"
#include "actors/supervisor/question_turns.hpp"
#include "actors/support/limits.hpp"
#include "atproto/identifiers.hpp"
#include "base/clock.hpp"
#include "storage/format/records.hpp"

#include <chrono>
#include <list>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace weir::actors {

struct question_options {
  std::chrono::seconds interval = limits::account_question_interval;
  /// RepoNotFound is asked again after this.
  std::chrono::seconds gone_grace = limits::gone_grace_range.standard;
  std::chrono::seconds retry = limits::account_question_retry;
  size_t waiting_max = limits::account_questions_max;
  size_t kept_max = limits::account_answers_kept_max;
  question_turn_options turns;
  size_t tries_max = limits::account_question_tries_max;
};

/// Asks hosts what accounts are there (getRepoStatus;
/// protocol-coverage.md 4.5): each account once in an interval, few at a time,
/// hosts in turn. A host that does not answer changes nothing and is asked
/// again, later and later. RepoNotFound counts when it was said twice,
/// `gone_grace` apart: a host that is being restored says it, too. Without CAF
/// or clock.
///
/// # Limits
/// `waiting_max` questions are open; `question_places` says whose. What finds
/// no place, or loses it, is `refused`: whoever asked asks again later. So is
/// one that somebody waits for when its host did not answer `tries_max` times.
class question_machine {
public:
  struct question {
    atproto::did repo;
    std::string pds;
    bool not_found = false; ///< It said so just now, to a fetch.
    bool at_once = false;   ///< Whenever it was asked last.
    bool urgent = false;    ///< Somebody waits for it.
    bool left_out = false;  ///< By a listing; the next one leaves it out, too.
    /// It was `not_found` in an earlier life, so long ago.
    std::optional<std::chrono::seconds> age{};
    /// Nobody waits for it, and it is asked again in its time whatever comes of
    /// it: no upstream covers the repo.
    bool compared = false;
    /// first_cursor_since_reset of the repo's upstream before it was asked: a
    /// rev that is held proves the copy.
    position noted{};
    /// That is why it is asked: once in an interval for each such position, as
    /// an answer of before a reset is no proof.
    bool prove = false;
  };

  struct verdict {
    atproto::did repo;
    std::string pds;
    storage::account_status account = storage::account_status::active;
    atproto::tid rev{};    ///< Of its repo there; undefined: it did not say.
    bool compared = false; ///< Only for that it was asked.
    position noted{};
    bool prove = false;
  };

  struct effects {
    std::vector<question> ask;
    std::vector<verdict> told;
    std::vector<verdict> lost;     ///< RepoNotFound, for the first time.
    std::vector<question> refused; ///< To be asked again, later.
    std::vector<atproto::did> unproved; ///< Their hosts never say their revs.
    std::optional<steady_time> timer;
  };

  explicit question_machine(question_options options)
    : options_(options), places_(options.waiting_max), turns_(options.turns) {
    // nop
  }

  effects on_question(const question& x, steady_time now);

  effects on_told(const atproto::did& repo, const std::string& pds,
                  storage::account_status account, steady_time now,
                  atproto::tid rev = {});

  effects on_not_found(const atproto::did& repo, const std::string& pds,
                       steady_time now);

  /// @param wait What the host asked for; 0: nothing.
  effects on_failed(const atproto::did& repo, const std::string& pds,
                    std::chrono::seconds wait, steady_time now);

  /// It would never say what is asked.
  effects on_useless(const atproto::did& repo, const std::string& pds,
                     steady_time now);

  effects on_timer(steady_time now);

  /// Whether `on_question` would ask: it is not open, and its host did not
  /// answer of late.
  bool is_new(const question& x, steady_time now) const {
    return !open_.contains(x.repo) && !was_asked(x, now);
  }

  /// Half of all places are free, which is room for a comparison.
  bool has_half() const noexcept {
    return open_.size() < options_.waiting_max / 2;
  }

  /// Room for a page of questions to this host. What a listing leaves out has
  /// half of all places, and a share for each site.
  bool has_room(const std::string& pds) const;

  size_t open() const noexcept { return open_.size(); }

  /// Answers of late, so that nobody asks again.
  size_t kept() const noexcept { return kept_.size(); }

  /// Memory that all of it holds, about.
  size_t bytes() const noexcept {
    return open_.size() * limits::account_question_bytes
           + kept_.size() * limits::account_answer_kept_bytes;
  }

private:
  struct entry {
    question asked; ///< `not_found`: said once.
    bool running = false;
    size_t tries = 0;
    std::optional<steady_time> due;    ///< It waits for its time.
    question_turns::ticket ticket = 0; ///< Else for its turn, unless it runs.
  };

  entry* answered(const atproto::did& repo, const std::string& pds);
  bool may_open(const question& x) const;
  void forget(const atproto::did& repo);
  void unplan(const atproto::did& repo, entry& x);
  void keep(const question& x, steady_time now);
  void keep(uint64_t key, steady_time now);
  bool was_asked(const question& x, steady_time now) const;
  std::chrono::seconds rest_of_grace(const question& x) const;
  void forget_old(steady_time now);
  void wait(const atproto::did& repo, std::chrono::seconds time,
            steady_time now);
  void make_ready(const atproto::did& repo);
  void run(effects& out, steady_time now);

  question_options options_;
  std::unordered_map<atproto::did, entry> open_;
  std::set<std::pair<steady_time, atproto::did>> delayed_;
  question_places places_; ///< Of all that are open.
  question_turns turns_;
  struct kept_answer {
    steady_time at;
    std::list<uint64_t>::iterator place;
  };

  /// By a hash of account and host: when it was answered, oldest first.
  std::unordered_map<uint64_t, kept_answer> kept_;
  std::list<uint64_t> kept_order_;
};

} // namespace weir::actors
