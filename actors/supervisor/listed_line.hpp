#pragma once

#include "actors/support/upstream_view.hpp"
#include "base/clock.hpp"
#include "base/position.hpp"
#include "storage/format/records.hpp"

#include <cstdint>

namespace weir::actors {

/// What one line of a listing states about its repo.
struct listed_line {
  atproto::tid rev; ///< Undefined: the line names the repo and nothing else.
  storage::account_status account = storage::account_status::active;
  /// first_cursor_since_reset of the upstream before the request.
  position noted;
  uint32_t upstream = 0; ///< The upstream whose listing it is.
  /// The position that its stream had reached before the request.
  position asked_at{};
};

/// Whether a REPO needs to receive a line: its rev or status differs from what
/// is stored, or the repo's position can be raised (CONS-24, CONS-25). A
/// needless line is harmless, since the REPO decides.
/// @param chain Given for a repo in sync; not used for others.
bool is_news(const listed_line& line, const storage::repo_row& row,
             const storage::chain_row* chain, const upstream_board& board);

/// Whether the directory has a tombstone for the account while the line lists
/// the account as not deleted, and the upstream of the line has authority over
/// the account.
bool denies_tombstone(const listed_line& line, const storage::repo_row& row,
                      const upstream_board& board);

/// Such a line counts as news once a day: the directory may have erred, and a
/// host may list its tombstoned accounts for ever.
bool is_due_again(const storage::identity_row& tombstone, wall_time now);

} // namespace weir::actors
