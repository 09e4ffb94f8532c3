#pragma once

#include "actors/support/account_sources.hpp"
#include "atproto/verify.hpp"
#include "storage/format/records.hpp"

/// What the row of a repo asks for, as a scan of all rows sees it.
namespace weir::actors {

/// Whether the repo's status asks for a fetch. While the account is away, it
/// asks for none, whatever the status.
inline bool asks_for_fetch(const storage::repo_row& row) noexcept {
  return row.account == storage::account_status::active
         && row.status != storage::repo_status::synced;
}

/// Whether a repo must be woken at start although its status asks for no fetch:
/// its identity is due, an event of it was lost, it was indexed under another
/// filter than `filter`, or a relay that is no longer followed objects to it.
inline bool has_quiet_work(const storage::repo_row& row, uint32_t filter,
                           const upstream_board& followed) {
  if (row.account != storage::account_status::active)
    return row.identity_due
           || account_sources::has_strangers(row.words, followed);
  return row.status == storage::repo_status::synced
         && (row.identity_due || row.gap || row.filter_generation != filter);
}

/// Whether the host said that it does not have the repo, and must be asked for
/// the second time, which nothing announces.
inline bool is_lost(const storage::repo_row& row) noexcept {
  return row.not_found_at != 0 && !row.pds.empty();
}

/// Whether a repo that failed waits because a rev was later than our clock.
inline bool is_ahead_of_clock(const storage::repo_row& row) {
  return row.error.find(to_string(atproto::verdict::future_rev))
         != std::string::npos;
}

} // namespace weir::actors
