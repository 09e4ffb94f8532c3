#pragma once

#include "actors/repo/limits.hpp"
#include "storage/format/repo_row.hpp"

#include <algorithm>

/// What the next fetch of a repo has to bring, as its row says it: a crash
/// between an event and its fetch makes no older fetch a success
/// (protocol-coverage.md 5.3).
namespace weir::actors::needed_rev {

/// An event of this rev was not applied.
/// @param proved Signed by the account; else a listing said so.
inline void require(storage::repo_row& row, atproto::tid rev, bool proved) {
  auto& known = proved ? row.missed_rev : row.listed_rev;
  known = std::max(known, rev);
}

/// A host that serves an older one is believed before a listing after so many
/// failures, never before a signature.
inline atproto::tid least(const storage::repo_row& row) {
  return row.retry_count < limits::listed_rev_tries_max
           ? std::max(row.missed_rev, row.listed_rev)
           : row.missed_rev;
}

/// A fetch brought it, or what there was is gone.
inline void settle(storage::repo_row& row) {
  row.missed_rev = row.listed_rev = {};
}

} // namespace weir::actors::needed_rev
