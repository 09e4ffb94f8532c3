#pragma once

#include <cstddef>
#include <cstdint>

namespace weir::actors {

/// Goes through the accounts of a page whose host is asked about each of them.
/// Decides which question is repeated, which account is passed over, and when
/// the page fails because the host is at fault. No clock, threads or I/O in
/// here.
///
/// An account that gets no answer twice is passed over and counted, so that one
/// account that cannot be described does not keep the others waiting. The page
/// fails after `limits::describe_failures_max` accounts in a row for which the
/// host was away, or which it refused before it had answered about any account.
/// That the host does not have an account is an answer.
class holders_machine {
public:
  /// The host's answer about one account.
  enum class answer : uint8_t {
    described,
    absent,  ///< A protocol error states that the account is not served there.
    unclear, ///< An unusable answer; the account may be damaged.
    /// The host refuses, as if the method did not exist or were not for us.
    refused,
    away,    ///< The host is unreachable, or cannot answer anything now.
  };

  enum class step : uint8_t {
    /// Ask about the next account. Without an answer, this one is passed over.
    again,
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
  /// Accounts in a row that failed because of their host.
  size_t failures_ = 0;
  size_t unanswered_ = 0;
  bool asked_twice_ = false;
  bool describes_ = false; ///< It has answered about an account of the page.
};

} // namespace weir::actors
