#pragma once

#include "actors/supervisor/limits.hpp"
#include "atproto/identifiers.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>

namespace weir::actors {

/// Goes through the accounts of a page whose host is asked about each of them.
/// Decides which question is repeated, which account is passed over, and when
/// the page fails because the host is at fault. No clock, threads or I/O.
///
/// An account that gets no answer twice is passed over and counted, so that one
/// account that cannot be described does not keep the others waiting. The page
/// fails after `limits::describe_failures_max` accounts in a row for which the
/// host was away, or which it refused before it had answered about any account.
/// That the host does not have an account is an answer.
class holders_machine {
public:
  enum class answer : uint8_t {
    described,
    absent,  ///< A protocol error states that the account is not served there.
    unclear, ///< An unusable answer; the account may be damaged.
    /// The host refuses, as if the method did not exist or were not for us.
    refused,
    away, ///< The host is unreachable, or cannot answer anything now.
  };

  enum class step : uint8_t {
    /// Ask about the next account. Without an answer, this one is passed over.
    again,
    next, ///< The next account. Without an answer this one is passed over.
    not_offered, ///< The page fails: the host describes no accounts.
    host_away,   ///< The page fails, and can be tried later.
  };

  step on_answer(answer x) noexcept {
    if (x == answer::described || x == answer::absent) {
      describes_ = true;
      asked_twice_ = false;
      failures_ = 0;
      return step::next;
    }
    if (!std::exchange(asked_twice_, true))
      return step::again;
    asked_twice_ = false;
    ++unanswered_;
    const auto host_fails
      = x == answer::away || (x == answer::refused && !describes_);
    failures_ = host_fails ? failures_ + 1 : 0;
    if (failures_ < limits::describe_failures_max)
      return step::next;
    return x == answer::refused ? step::not_offered : step::host_away;
  }

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

/// The answers of a PDS about the accounts of the listing under way, beside
/// what its pages bring: the answers for a page that has to be asked for again,
/// because its host was away or asked us to wait, and the number of accounts
/// that the host has described. No clock, threads or I/O in here.
///
/// # Limits
/// Answers are kept for one page, and forgotten when the page is done.
class holders_run {
public:
  enum class said : uint8_t {
    holds,   ///< It has records of a signal collection.
    without, ///< It has none.
    absent,  ///< The host does not have this account, or does not serve it.
    nothing, ///< The account was passed over: there was no usable answer.
  };

  void begin() { described_ = absent_ = known_ = 0; }

  std::optional<said> kept(const atproto::did& repo) const {
    const auto i = kept_.find(repo);
    return i == kept_.end() ? std::nullopt : std::optional{i->second};
  }

  /// Keeps an answer because the page failed after it; the page comes again.
  void keep(const atproto::did& repo, said x) {
    kept_.insert_or_assign(repo, x);
  }

  void count(said x) {
    described_ += x == said::holds || x == said::without ? 1 : 0;
    absent_ += x == said::absent ? 1 : 0;
  }

  /// Counts tracked accounts of a page that is done: they are not asked about.
  void count_known(size_t accounts) { known_ += accounts; }

  /// Forgets the answers for a page that is done or begins anew.
  void forget_page() { kept_.clear(); }

  /// The number of accounts that the host lists as active and denies when it is
  /// asked. Not 0 only for a listing in which the host described no account:
  /// such a host is not believed. One account may really be gone; so when
  /// tracked accounts were listed too, at least `limits::describe_absent_min`
  /// have to be denied.
  size_t disowned() const noexcept {
    const auto may_be_gone
      = known_ > 0 && absent_ < limits::describe_absent_min;
    return described_ > 0 || may_be_gone ? 0 : absent_;
  }

private:
  std::unordered_map<atproto::did, said> kept_;
  size_t described_ = 0;
  size_t absent_ = 0;
  size_t known_ = 0;
};

} // namespace weir::actors
