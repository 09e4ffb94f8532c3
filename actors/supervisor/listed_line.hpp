#pragma once

#include "actors/support/upstream_view.hpp"
#include "base/clock.hpp"
#include "base/position.hpp"
#include "storage/format/records.hpp"

#include <cstdint>

namespace weir::actors {

/// What one line of a listing says of its repo.
struct listed_line {
  atproto::tid rev; ///< Undefined: it names the repo, no more.
  storage::account_status account = storage::account_status::active;
  position noted;        ///< first_cursor_since_reset before the request.
  uint32_t upstream = 0; ///< Whose listing it is.
  position asked_at{};   ///< What its stream had brought before the request.
};

/// Whether a REPO has to hear of a line: its rev or status differs from what is
/// stored, or its position can be raised (CONS-24, CONS-25). A line too many is
/// harmless, the REPO decides.
/// @param chain Of a repo in sync; it is not asked for of others.
bool is_news(const listed_line& line, const storage::repo_row& row,
             const storage::chain_row* chain, const upstream_board& board);

/// Whether a line names an account that the directory has a tombstone for, as
/// one that is not deleted, and comes from whoever may say so.
bool denies_tombstone(const listed_line& line, const storage::repo_row& row,
                      const upstream_board& board);

/// Such a line is news once a day: the directory may have erred, and a host may
/// list its tombstoned accounts for ever.
bool is_due_again(const storage::identity_row& tombstone, wall_time now);

} // namespace weir::actors
