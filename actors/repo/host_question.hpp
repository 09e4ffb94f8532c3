#pragma once

#include "actors/support/limits.hpp"
#include "base/clock.hpp"

#include <optional>
#include <utility>

namespace weir::actors {

/// Whether the current host is to be asked what an account is there
/// (protocol-coverage.md 2.1.3, 4.5), as one REPO sees it: not for every frame
/// of an account that is away, and never forgotten while its host is not known.
class host_question {
public:
  /// Something does not fit. Asked once in `limits::account_question_interval`;
  /// what does not fit sooner than that is asked about when it is over.
  void want() noexcept { wanted_ = true; }

  /// Somebody asked for it, or the host is another one: at once.
  void want_now() noexcept {
    wanted_ = at_once_ = urgent_ = true;
    pause_end_.reset();
  }

  /// The host said RepoNotFound to a fetch.
  void want_after_not_found() noexcept { wanted_ = not_found_ = true; }

  /// Its host has no such account, it said so twice, and a fetch runs: what
  /// that finds decides.
  void note_gone() noexcept { gone_ = true; }

  /// Something was heard that ends it, or decides it.
  bool take_gone() noexcept { return std::exchange(gone_, false); }

  /// An #account came, so an answer that is on its way may be an older one.
  void note_event() noexcept { overtaken_ = true; }
  bool is_overtaken() const noexcept { return overtaken_; }

  /// There was no room for it.
  void put_off(bool not_found, bool urgent, steady_time until) noexcept {
    wanted_ = at_once_ = true;
    not_found_ |= not_found;
    urgent_ |= urgent;
    pause_end_ = until;
  }

  bool wanted() const noexcept { return wanted_; }

  /// When it may be asked.
  steady_time due() const noexcept {
    if (pause_end_)
      return *pause_end_;
    return asked_ && !at_once_ && !not_found_
             ? *asked_ + limits::account_question_interval
             : steady_time{};
  }

  /// It is wanted and was asked not long ago.
  bool waits() const noexcept { return wanted_ && asked_; }

  bool at_once() const noexcept { return at_once_; }
  bool urgent() const noexcept { return urgent_; }
  bool not_found() const noexcept { return not_found_; }

  void asked(steady_time now) noexcept {
    wanted_ = at_once_ = urgent_ = not_found_ = overtaken_ = false;
    pause_end_.reset();
    asked_ = now;
  }

private:
  bool wanted_ = false;
  bool at_once_ = false;
  bool urgent_ = false;
  bool not_found_ = false;
  bool gone_ = false;
  bool overtaken_ = false; ///< Since it was asked.
  std::optional<steady_time> asked_;
  std::optional<steady_time> pause_end_; ///< There was no room for it.
};

} // namespace weir::actors
