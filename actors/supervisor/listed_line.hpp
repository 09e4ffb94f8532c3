#pragma once

#include "actors/support/account_sources.hpp"
#include "actors/support/limits.hpp"
#include "actors/support/upstream_view.hpp"
#include "base/clock.hpp"
#include "base/stored_time.hpp"
#include "messages/account.hpp"

#include <cstdint>
#include <memory>
#include <optional>

namespace weir::actors {

/// Whether a REPO needs to receive a line: its rev or status differs from what
/// is stored, the repo's position can be raised (CONS-24, CONS-25), or the line
/// may take back a rev that the copy lacks. A needless line is harmless, since
/// the REPO decides.
/// @param chain Given for a repo in sync; not used for others.
inline bool is_news(const repo_listed& line, const storage::repo_row& row,
                    const storage::chain_row* chain,
                    const upstream_board& board) {
  if (!line.rev.defined())
    return false;
  if (row.left_out_by != 0 && row.left_out_by == line.upstream)
    return true;
  if (account_sources::is_news(
        row.words,
        account_sources::listed_by(board.find(line.upstream), line.account,
                                   line.asked_at),
        account_sources::has_own_stream(board, row.pds))
      || account_sources::has_strangers(row.words, board))
    return true;
  if (row.status != storage::repo_status::synced)
    return false; // The coming fetch finds the news.
  if (chain == nullptr || chain->rev != line.rev)
    return true;
  return line.noted.defined()
         && (!row.fcsr.covers(line.noted) || row.first_rev > line.rev)
         && board.accounting_for(row.pds).id == line.upstream;
}

/// Whether the line contradicts a tombstone of the directory: it lists the
/// account as not deleted, and its upstream has authority over the account.
inline bool denies_tombstone(const repo_listed& line,
                             const storage::repo_row& row,
                             const upstream_board& board) {
  const auto from = board.find(line.upstream);
  return line.rev.defined() && !account_sources::is_former(from, row.pds)
         && account_sources::denies_tombstone(
           row.words, line.account, from.relay,
           account_sources::has_own_stream(board, row.pds));
}

/// Such a denial counts as news once a day: the directory may have erred, and a
/// host may list its tombstoned accounts for ever.
/// @param tombstone As it is stored. One that cannot be read counts.
inline bool
is_due_again(const result<std::optional<storage::identity_row>>& tombstone,
             wall_time now) {
  constexpr std::chrono::seconds pause = limits::identity_fresh;
  return !tombstone || !*tombstone
         || age_of((*tombstone)->fetched_at, now) >= pause.count();
}

/// Whether a REPO needs to receive what its host says when it is asked: the
/// answer differs from what is stored, or denies a tombstone.
/// @param rows Has the `row` of the repo, and its `chain` if it is in sync.
///        When they cannot be read, the REPO decides.
/// @param load_identity Reads a tombstone, of which few answers have need.
template <class Rows, class Load>
bool is_news(const account_said& x, const result<Rows>& rows, wall_time now,
             Load load_identity) {
  if (!rows || !rows->row)
    return !rows;
  const auto& row = *rows->row;
  if (row.pds != x.pds)
    return false; // The repo moved since; that host was not asked.
  if (row.words.host != x.account || row.not_found_at != 0)
    return true;
  return (x.account == storage::account_status::active
          && row.status == storage::repo_status::synced
          && (rows->chain == nullptr || x.rev > rows->chain->rev))
         || (account_sources::denies_tombstone(row.words, x.account, false,
                                               true)
             && is_due_again(load_identity(), now));
}

/// The rows with which a line is compared, and no others, because a listing
/// names every repo.
struct compared_rows {
  std::optional<storage::repo_row> row;
  std::shared_ptr<const storage::chain_row> chain; ///< Only for a repo in sync.
};

/// What becomes of a line: it goes to its REPO, nowhere, or, as its repo is
/// unknown, to `claims_machine`.
enum class line_fate : uint8_t { give, drop, claim };

/// @param rows Those of its repo. When they cannot be read, the REPO decides.
/// @param load_identity Reads a tombstone, of which few lines have need.
template <class Load>
line_fate fate_of(const repo_listed& line, const result<compared_rows>& rows,
                  const upstream_board& board, wall_time now,
                  Load load_identity) {
  if (!rows || !rows->row)
    return rows ? line_fate::claim : line_fate::give;
  const auto& row = *rows->row;
  return is_news(line, row, rows->chain.get(), board)
             || (denies_tombstone(line, row, board)
                 && is_due_again(load_identity(), now))
           ? line_fate::give
           : line_fate::drop;
}

} // namespace weir::actors
