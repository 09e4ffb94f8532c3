#pragma once

#include <cstddef>
#include <cstdint>

namespace weir::actors {

/// Goes through the accounts of a page whose host is asked about each of them:
/// which answer is asked for again, which account is passed over, and when the
/// host is at fault and the page fails. No clock, threads or I/O in here.
///
/// An account without an answer, twice, is passed over and counted, so that one
/// that cannot be described does not keep the others waiting. The page fails
/// after `limits::describe_failures_max` accounts in a row for which the host was
/// away, or which it refused before it had answered about any. That it does not
/// have an account is an answer.
class holders_machine {
public:
  /// What a host says of one account.
  enum class answer : uint8_t {
    described,
    absent,  ///< In words of the protocol: the account is not served there.
    unclear, ///< Nothing that can be used; the account may be damaged.
    refused, ///< As what does not exist, or is not for us.
    away,    ///< Nobody is there, or it cannot answer anything now.
  };

  enum class step : uint8_t {
    again,       ///< Ask about the same account once more.
    next,        ///< The next account. Without an answer this one is passed over.
    not_offered, ///< The page fails: the host describes no accounts.
    host_away,   ///< The page fails, and can be tried later.
  };

  step on_answer(answer x) noexcept;

  /// The host has answered about an account of this page before.
  void on_known() noexcept { describes_ = true; }

  /// Accounts that were passed over.
  size_t unanswered() const noexcept { return unanswered_; }

private:
  size_t failures_ = 0; ///< Accounts in a row, because of their host.
  size_t unanswered_ = 0;
  bool asked_twice_ = false;
  bool describes_ = false; ///< It has answered about one of the page.
};

} // namespace weir::actors
