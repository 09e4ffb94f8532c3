#pragma once

#include "actors/repo/identity_view.hpp"

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

  /// A report contradicts what is known. If the host was asked recently, it is
  /// asked again when the interval is over.
  void want() noexcept { state_.wanted = true; }

  /// Asks at once: a user requested it, or the account has another host.
  void want_now() noexcept {
    state_.wanted = state_.at_once = state_.urgent = true;
    state_.pause_end.reset();
  }

  /// The host answered RepoNotFound to a fetch.
  void want_after_not_found() noexcept {
    state_.wanted = state_.not_found = true;
  }

  /// Asks if a question is wanted and due and the host is known.
  void ask(repo_turn& t);

  /// SUPERVISOR had no room for the question.
  void put_off(bool not_found, bool urgent, repo_turn& t);

  /// A question is wanted, but the host was asked recently.
  bool waits() const noexcept { return state_.wanted && state_.asked; }

  // -- what was reported meanwhile --------------------------------------------

  /// An #account event arrived, so an answer that is on its way may be older
  /// than it.
  void note_event() noexcept { state_.overtaken = true; }
  bool is_overtaken() const noexcept { return state_.overtaken; }

  /// The host answered RepoNotFound for the second time while a fetch runs: the
  /// result of the fetch decides.
  void note_gone() noexcept { state_.gone = true; }
  bool take_gone() noexcept { return std::exchange(state_.gone, false); }

private:
  struct state {
    bool wanted = false;
    bool at_once = false;
    bool urgent = false; ///< A user waits for the answer.
    bool not_found = false;
    bool gone = false;
    bool overtaken = false; ///< By an event after the last question.
    std::optional<steady_time> asked; ///< Time of the last question.
    std::optional<steady_time> pause_end; ///< Set when there was no room.
  };

  steady_time due() const noexcept;

  identity_view& identity_;
  state state_;
};

} // namespace weir::actors
