#pragma once

#include "actors/repo/identity_view.hpp"

#include <optional>
#include <utility>

namespace weir::actors {

/// Whether the current host is to be asked what an account is there
/// (protocol-coverage.md 2.1.3, 4.5), as one repo sees it: once in
/// `limits::account_question_interval`, not for every frame of an account that
/// is away. A question that is wanted is never forgotten, not while its host is
/// unknown and not when SUPERVISOR had no place for it.
class host_question {
public:
  explicit host_question(identity_view& identity) noexcept
    : identity_(identity) {
    // nop
  }

  void begin_life() noexcept { state_ = {}; }

  /// Something does not fit. If the host was asked not long ago, it is asked
  /// again when the interval is over.
  void want() noexcept { state_.wanted = true; }

  /// Somebody asked for it, or the account has another host: at once.
  void want_now() noexcept {
    state_.wanted = state_.at_once = state_.urgent = true;
    state_.pause_end.reset();
  }

  /// The host said RepoNotFound to a fetch.
  void want_after_not_found() noexcept {
    state_.wanted = state_.not_found = true;
  }

  /// Asks, if that is wanted and due, and as soon as it is known which host.
  void ask(repo_turn& t);

  /// There was no room for the question.
  void put_off(bool not_found, bool urgent, repo_turn& t);

  /// It is wanted, and the host was asked not long ago.
  bool waits() const noexcept { return state_.wanted && state_.asked; }

  // -- what was heard meanwhile -----------------------------------------------

  /// An #account came, so an answer that is on its way may be the older one.
  void note_event() noexcept { state_.overtaken = true; }
  bool is_overtaken() const noexcept { return state_.overtaken; }

  /// The host said RepoNotFound for the second time, and a fetch runs: what
  /// that finds decides.
  void note_gone() noexcept { state_.gone = true; }
  bool take_gone() noexcept { return std::exchange(state_.gone, false); }

private:
  struct state {
    bool wanted = false;
    bool at_once = false;
    bool urgent = false; ///< Somebody waits for the answer.
    bool not_found = false;
    bool gone = false;
    bool overtaken = false;               ///< Since it was asked.
    std::optional<steady_time> asked;     ///< When it was, the last time.
    std::optional<steady_time> pause_end; ///< There was no room for it.
  };

  steady_time due() const noexcept;

  identity_view& identity_;
  state state_;
};

} // namespace weir::actors
