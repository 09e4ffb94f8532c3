#pragma once

#include "actors/support/upstream_view.hpp"
#include "base/clock.hpp"
#include "messages/repo.hpp"

namespace weir::actors {

/// Whether a REPO needs to receive a line: its rev or status differs from what
/// is stored, or the repo's position can be raised (CONS-24, CONS-25). A
/// needless line is harmless, since the REPO decides.
/// @param chain Given for a repo in sync; not used for others.
bool is_news(const repo_listed& line, const storage::repo_row& row,
             const storage::chain_row* chain, const upstream_board& board);

/// Whether the directory has a tombstone for the account while the line lists
/// the account as not deleted, and the upstream of the line has authority over
/// the account.
bool denies_tombstone(const repo_listed& line, const storage::repo_row& row,
                      const upstream_board& board);

/// Such a line counts as news once a day: the directory may have erred, and a
/// host may list its tombstoned accounts for ever.
bool is_due_again(const storage::identity_row& tombstone, wall_time now);

} // namespace weir::actors
