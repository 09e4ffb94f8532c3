#pragma once

#include "actors/supervisor/limits_listings.hpp"
#include "atproto/identifiers.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>

namespace weir::actors {

/// What a PDS has said of its accounts in the listing under way, beside what its
/// pages bring: answers of a page that has to be asked for again, because its host
/// was away or asked for time, and how many of all accounts it has described. No
/// clock, threads or I/O in here.
///
/// # Limits
/// Answers are kept of one page, and forgotten when it is through.
class holders_run {
public:
  /// What was found out about an account.
  enum class said : uint8_t {
    holds,   ///< It has records of a signal collection.
    without, ///< It has none.
    absent,  ///< The host does not have this account, or does not serve it.
    nothing, ///< It was passed over: nobody could say.
  };

  /// The first page of a listing is asked about.
  void begin() { described_ = absent_ = known_ = 0; }

  std::optional<said> kept(const atproto::did& repo) const {
    const auto i = kept_.find(repo);
    return i == kept_.end() ? std::nullopt : std::optional{i->second};
  }

  /// The page failed after this was said; it comes again.
  void keep(const atproto::did& repo, said x) { kept_.insert_or_assign(repo, x); }

  /// An account of a page that is through.
  void count(said x) {
    described_ += x == said::holds || x == said::without ? 1 : 0;
    absent_ += x == said::absent ? 1 : 0;
  }

  /// Accounts of a page that is through which need not be asked about, because
  /// they are tracked.
  void count_known(size_t accounts) { known_ += accounts; }

  /// Of the page that is through or begins anew.
  void forget_page() { kept_.clear(); }

  /// Accounts that the host has listed as active and does not know when it is
  /// asked, of a listing in which it knew none: nobody believes that. One of them
  /// may be gone, so beside accounts that are tracked there have to be
  /// `limits::describe_absent_min`.
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
