#pragma once

#include "actors/repo/limits.hpp"
#include "storage/format/repo_row.hpp"

#include <algorithm>

/// The rev that the next fetch of a repo must reach. The row stores it, so that
/// after a crash between an event and its fetch an older copy does not count as
/// a success (protocol-coverage.md 5.3).
namespace weir::actors::needed_rev {

/// An event of this rev was not applied.
/// @param proved True when the account signed the rev; false when only a
/// listing named it.
inline void require(storage::repo_row& row, atproto::tid rev, bool proved) {
  auto& known = proved ? row.missed_rev : row.listed_rev;
  known = std::max(known, rev);
}

/// The least rev that the next fetch must have. After
/// `limits::listed_rev_tries_max` failures, an older rev that the host serves
/// is accepted against a listing, but never against a signature.
inline atproto::tid least(const storage::repo_row& row) {
  return row.retry_count < limits::listed_rev_tries_max
           ? std::max(row.missed_rev, row.listed_rev)
           : row.missed_rev;
}

/// A fetch reached the rev, or the content of the repo was erased.
inline void settle(storage::repo_row& row) {
  row.missed_rev = row.listed_rev = {};
}

} // namespace weir::actors::needed_rev
