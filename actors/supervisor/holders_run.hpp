#pragma once

#include "actors/supervisor/limits.hpp"
#include "atproto/identifiers.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>

namespace weir::actors {

/// The answers of a PDS about the accounts of the listing under way, beside
/// what its pages bring: the answers for a page that has to be asked for again,
/// because its host was away or asked us to wait, and the number of accounts
/// that the host has described. No clock, threads or I/O in here.
///
/// # Limits
/// Answers are kept for one page, and forgotten when the page is done.
class holders_run {
public:
  /// The result for one account.
  enum class said : uint8_t {
    holds,   ///< It has records of a signal collection.
    without, ///< It has none.
    absent,  ///< The host does not have this account, or does not serve it.
    nothing, ///< The account was passed over: there was no usable answer.
  };

  /// The first page of a listing begins.
  void begin() { described_ = absent_ = known_ = 0; }

  std::optional<said> kept(const atproto::did& repo) const {
    const auto i = kept_.find(repo);
    return i == kept_.end() ? std::nullopt : std::optional{i->second};
  }

  /// Keeps an answer because the page failed after it; the page comes again.
  void keep(const atproto::did& repo, said x) { kept_.insert_or_assign(repo, x); }

  /// Counts an account of a page that is done.
  void count(said x) {
    described_ += x == said::holds || x == said::without ? 1 : 0;
    absent_ += x == said::absent ? 1 : 0;
  }

  /// Counts accounts of a page that is done which need not be asked about,
  /// because they are tracked.
  void count_known(size_t accounts) { known_ += accounts; }

  /// Forgets the answers for a page that is done or begins anew.
  void forget_page() { kept_.clear(); }

  /// The number of accounts that the host lists as active and denies when it is
  /// asked. Not 0 only for a listing in which the host described no account:
  /// such a host is not believed. One account may really be gone; so when
  /// tracked accounts were listed too, at least `limits::describe_absent_min`
  /// have to be denied.
  size_t disowned() const noexcept {
    return described_ > 0 || (known_ > 0 && absent_ < limits::describe_absent_min)
             ? 0
             : absent_;
  }

private:
  std::unordered_map<atproto::did, said> kept_;
  size_t described_ = 0;
  size_t absent_ = 0;
  size_t known_ = 0;
};

} // namespace weir::actors
