#pragma once

#include "actors/supervisor/limits_accounts.hpp"
#include "actors/supervisor/question_places.hpp"
#include "actors/supervisor/question_turns.hpp"
#include "actors/support/limits.hpp"
#include "atproto/identifiers.hpp"
#include "base/clock.hpp"
#include "messages/account.hpp"
#include "messages/backfill.hpp"
#include "storage/format/records.hpp"

#include <chrono>
#include <list>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace weir::actors {

struct question_options {
  /// The time after which RepoNotFound is checked again.
  std::chrono::seconds gone_grace = limits::gone_grace_range.standard;
  size_t waiting_max = limits::account_questions_max;
  size_t kept_max = limits::account_answers_kept_max;
};

/// Asks hosts for the status of accounts (getRepoStatus; protocol-coverage.md
/// 4.5): each account once in an interval, few at a time, hosts in turn. A host
/// that does not answer changes nothing and is asked again after longer and
/// longer waits. RepoNotFound counts when the host answered it twice,
/// `gone_grace` apart: a host that is being restored answers it, too. Without
/// CAF or clock.
///
/// # Limits
/// `waiting_max` questions are open; `question_places` decides which. A
/// question that finds no place, or loses its place, is `refused`: its sender
/// asks again later. An urgent question is refused as well when its host did
/// not answer `limits::account_question_tries_max` times.
class question_machine {
public:
  struct question : account_question {
    bool left_out = false; ///< A listing left it out; the next one will, too.
    /// The host answered `not_found` in an earlier run of the node, this long
    /// ago.
    std::optional<std::chrono::seconds> age{};
    /// No upstream covers the repo. Nothing waits for the answer, and the
    /// question comes again in its time whatever the result.
    bool compared = false;
    /// The position since which the stream of the repo's upstream had no gap
    /// before the question. An answer with the stored rev proves the copy.
    position noted{};
    /// The question is asked for that proof: once in an interval for each such
    /// position, as an answer from before a reset proves nothing.
    bool prove = false;
  };

  struct effects {
    std::vector<question> ask;
    std::vector<account_said> answers;
    std::vector<account_said> compared; ///< Answers to such questions.
    std::vector<question> refused;      ///< These are asked again later.
    std::vector<atproto::did> unproved; ///< Their hosts never name their revs.
    std::optional<steady_time> timer;
  };

  explicit question_machine(question_options options)
    : options_(options), places_(options.waiting_max) {}

  effects on_question(const question& x, steady_time now);

  /// The questions about the repos that were lost in an earlier run of the
  /// node: the first scan of all rows finds them, and each is asked about once.
  std::vector<question> lost_in(const scan_page& x, wall_time now);

  /// The answer to a question of `effects::ask`; others change nothing.
  effects on_answer(const account_answer& x, steady_time now);

  effects on_timer(steady_time now) { return run({}, now); }

  /// Whether `on_question` would ask: the question is not open, and the host
  /// has not answered it lately.
  bool is_new(const question& x, steady_time now) const {
    return !open_.contains(x.repo) && !was_asked(x, now);
  }

  /// Whether half of all places are free, which is room for a comparison.
  bool has_half() const noexcept {
    return open_.size() < options_.waiting_max / 2;
  }

  /// Whether there is room for a page of questions to this host. Questions
  /// about repos that a listing left out may use half of all places, and of
  /// these each site has a share.
  bool has_room(const std::string& pds) const;

  size_t open() const noexcept { return open_.size(); }

  /// Recent answers, kept so that the same question is not asked again.
  size_t kept() const noexcept { return kept_.size(); }

  /// The approximate memory in bytes.
  size_t bytes() const noexcept {
    return open_.size() * limits::account_question_bytes
           + kept_.size() * limits::account_answer_kept_bytes;
  }

private:
  struct entry {
    question asked; ///< `not_found`: the host answered so once.
    bool running = false;
    size_t tries = 0;
    /// Asked once this one is over: the account has another host meanwhile.
    std::unique_ptr<question> next{};
    std::optional<steady_time> due; ///< Set while it waits for its time.
    /// Its place in the turns while it neither waits nor runs.
    question_turns::ticket ticket = 0;
  };

  void open(const question& x, steady_time now, effects& out);
  void repeat(entry& known, const question& x);
  bool take(entry& open, const account_answer& x, steady_time now,
            effects& out);
  bool take_failure(entry& open, std::chrono::seconds pause, steady_time now,
                    effects& out);
  bool may_open(const question& x) const;
  void forget(const atproto::did& repo);
  void unplan(const atproto::did& repo, entry& x);
  void keep(const question& x, steady_time now);
  void keep(uint64_t key, steady_time now);
  bool was_asked(const question& x, steady_time now) const;
  std::chrono::seconds rest_of_grace(const question& x) const;
  void forget_old(steady_time now);

  void wait(const atproto::did& repo, std::chrono::seconds time,
            steady_time now) {
    delayed_.emplace(*(open_.at(repo).due = now + time), repo);
  }

  void make_ready(const atproto::did& repo) {
    auto& x = open_.at(repo);
    x.ticket = turns_.add(repo, x.asked.pds);
  }

  effects run(effects out, steady_time now);

  question_options options_;
  std::unordered_map<atproto::did, entry> open_;
  std::set<std::pair<steady_time, atproto::did>> delayed_;
  question_places places_; ///< The places of all open questions.
  question_turns turns_;
  struct kept_answer {
    uint64_t key; ///< A hash of account and host.
    steady_time at;
  };

  std::list<kept_answer> kept_order_; ///< The oldest comes first.
  std::unordered_map<uint64_t, std::list<kept_answer>::iterator> kept_;
  bool lost_found_ = false; ///< The first scan has ended.
};

} // namespace weir::actors
