#pragma once

#include "actors/repo/identity_view.hpp"
#include "actors/repo/limits.hpp"
#include "actors/support/limits.hpp"

#include <optional>
#include <utility>

namespace weir::actors {

/// Decides when one repo asks the current host for the status of its account
/// (protocol-coverage.md 2.1.3, 4.5): once in
/// `limits::account_question_interval`, not for every frame of an inactive
/// account. A wanted question is never forgotten, not while its host is unknown
/// and not when SUPERVISOR had no room for it.
class host_question {
public:
  explicit host_question(identity_view& identity) noexcept
    : identity_(identity) {}

  void begin_life() noexcept { state_ = {}; }

  /// A report contradicts what is known. The host is asked, not too often.
  void want(repo_turn& t) {
    state_.wanted = true;
    ask(t);
  }

  /// The next `ask` does not wait: a user requested it, or the host is another.
  void want_now() noexcept {
    state_.wanted = state_.at_once = state_.urgent = true;
    state_.pause_end.reset();
  }

  /// The host answered RepoNotFound to a fetch.
  void want_after_not_found(repo_turn& t) {
    state_.not_found = true;
    want(t);
  }

  /// Asks if a question is wanted and due and the host is known.
  void ask(repo_turn& t) {
    if (!state_.wanted)
      return;
    if (due() > t.now.steady) {
      t.arm(due());
      return;
    }
    const auto& host = identity_.host(t.row);
    if (host.empty()) {
      identity_.ask(t);
      return;
    }
    // A question that waited here for its time must not be dropped as too soon.
    t.out.ask_host
      = account_question{t.lane.repo(), host, state_.not_found,
                         state_.at_once || waits(), state_.urgent};
    state_ = {.gone = state_.gone, .asked = t.now.steady};
  }

  /// SUPERVISOR had no room for the question.
  void put_off(const account_unasked& x, repo_turn& t) {
    state_.at_once = true;
    state_.not_found |= x.not_found;
    state_.urgent |= x.urgent;
    state_.pause_end = t.now.steady + limits::account_question_pause;
    want(t);
  }

  /// A question is wanted, but the host was asked recently.
  bool waits() const noexcept { return state_.wanted && state_.asked; }

  /// An #account event arrived: an answer that is on its way may be older.
  void note_event() noexcept { state_.overtaken = true; }
  bool is_overtaken() const noexcept { return state_.overtaken; }

  /// One RepoNotFound erases nothing: it counts when it is repeated later.
  void note_not_found(repo_turn& t) {
    if (t.row.not_found_at == 0)
      t.set(t.row.not_found_at, t.now.wall.seconds());
  }
  void forget_not_found(repo_turn& t) { t.set(t.row.not_found_at, 0); }

  /// The second RepoNotFound, while a fetch runs, whose result decides.
  void note_gone() noexcept { state_.gone = true; }
  bool take_gone() noexcept { return std::exchange(state_.gone, false); }

private:
  struct state {
    bool wanted = false;
    bool at_once = false;
    bool urgent = false; ///< A user waits for the answer.
    bool not_found = false;
    bool gone = false;
    bool overtaken = false; ///< An event came after the last question.
    std::optional<steady_time> asked{};     ///< Time of the last question.
    std::optional<steady_time> pause_end{}; ///< Set when there was no room.
  };

  steady_time due() const noexcept {
    if (state_.pause_end)
      return *state_.pause_end;
    return state_.asked && !state_.at_once && !state_.not_found
             ? *state_.asked + limits::account_question_interval
             : steady_time{};
  }

  identity_view& identity_;
  state state_;
};

} // namespace weir::actors
