#pragma once

#include "actors/repo/fetch_job.hpp"
#include "actors/repo/identity_view.hpp"
#include "actors/repo/kept_collections.hpp"
#include "actors/repo/refetch_plan.hpp"

#include <string>

namespace weir::actors {

/// What the status is of a repo without a fetch that is not in sync (SYNC-02).
inline storage::repo_status
status_without_fetch(const storage::repo_row& row) noexcept {
  return row.last_indexed_rev.defined() ? storage::repo_status::desync
                                        : storage::repo_status::pending;
}

/// Whether a repo's copy is in sync with its host, and when it is fetched if it
/// is not. A repo that falls out of sync again and again is fetched later and
/// later, so that whoever causes that cannot have it fetched without end.
class sync_state {
public:
  sync_state(fetch_job& job, sync_buffer& buffer, identity_view& identity,
             identity_doubt& doubt, const kept_collections& kept) noexcept
    : job_(job), buffer_(buffer), identity_(identity), doubt_(doubt),
      kept_(kept) {
    // nop
  }

  /// Commits are applied: it is in sync, or all was fetched.
  bool takes_commits(const storage::repo_row& row) const noexcept {
    return row.status == storage::repo_status::synced || job_.drains();
  }

  /// @pre it is tracked
  bool wants_fetch(const storage::repo_row& row) const noexcept {
    return !job_.runs() && row.account == storage::account_status::active
           && row.status != storage::repo_status::synced;
  }

  /// The copy is not what the host has, or may not be: it is fetched (SYNC-07).
  /// Ends a fetch that runs.
  void desync(std::string reason, repo_turn& t);

  /// Somebody asked for a fetch (SYNC-33): no pause holds it back.
  void resync(repo_turn& t);

  /// Asks for a fetch at once, or after a pause when there were many just now.
  void wish_fetch(repo_turn& t);

  /// Keeps a commit until it can be judged. Where there is no room any more, a
  /// fetch brings it.
  void keep(waiting_frame x, repo_turn& t);

  /// A document names another key or host: what was refused before may have
  /// been true, and a fetch that failed by the old ones may succeed.
  void take_new_identity(repo_turn& t);

  /// Fetches again what was indexed under another filter.
  void check_filter(repo_turn& t);

  /// The next event came while the last fetch failed for a key: the document
  /// may name the right one by now (protocol-coverage.md 5.2). A few times,
  /// then the back-off of the fetch holds.
  void hurry_fetch(repo_turn& t);

  /// Nothing is fetched now, so nothing fails.
  void forget_failure(repo_turn& t);

  // -- gaps -------------------------------------------------------------------

  /// An event was dropped that may have meant something (CONS-11). The repo
  /// goes on, in case the next event shows that nothing is missing, until its
  /// fetch is due.
  void open_gap(repo_turn& t);

  /// Fetches when that is due.
  void attend_gap(repo_turn& t);

  /// A commit followed on what is held, so nothing is missing.
  void close_gap(repo_turn& t);

  /// The row says that nothing is missing, unless something still is not
  /// judged.
  void end_gap(repo_turn& t);

  bool has_gap() const noexcept { return plan_.gap_due().has_value(); }

  // -- fetches ----------------------------------------------------------------

  /// It contains what was dropped before.
  void begin_fetch() noexcept { plan_.close_gap(); }

  /// @param rev Of the root.
  void end_fetch(atproto::tid rev, repo_turn& t);

  /// The host does not have this rev, however often a relay lists it.
  bool is_disproved(atproto::tid rev, const now_time& now) const noexcept {
    return plan_.is_disproved(rev, now.steady);
  }

  // -- one life and the next --------------------------------------------------

  /// The row is there: what the last life did not judge is lost.
  void resume(repo_turn& t);

  void end_life(repo_turn& t);

private:
  fetch_job& job_;
  sync_buffer& buffer_;
  identity_view& identity_;
  identity_doubt& doubt_;
  const kept_collections& kept_;
  refetch_plan plan_;
};

} // namespace weir::actors
