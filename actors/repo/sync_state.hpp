#pragma once

#include "actors/repo/fetch_job.hpp"
#include "actors/repo/identity_view.hpp"
#include "actors/repo/kept_collections.hpp"
#include "actors/repo/refetch_plan.hpp"

#include <string>

namespace weir::actors {

/// The status of a repo that is not in sync and not being fetched (SYNC-02).
inline storage::repo_status
status_without_fetch(const storage::repo_row& row) noexcept {
  return row.last_indexed_rev.defined() ? storage::repo_status::desync
                                        : storage::repo_status::pending;
}

/// Whether a repo's copy is in sync with its host, and when it is fetched if it
/// is not. A repo that falls out of sync again and again is fetched at growing
/// intervals, so that nobody can cause endless fetches.
class sync_state {
public:
  sync_state(fetch_job& job, sync_buffer& buffer, identity_view& identity,
             identity_doubt& doubt, const kept_collections& kept) noexcept
    : job_(job), buffer_(buffer), identity_(identity), doubt_(doubt),
      kept_(kept) {}

  /// Whether commits are applied: the repo is in sync, or a fetch has brought
  /// everything and the buffer drains.
  bool takes_commits(const storage::repo_row& row) const noexcept {
    return row.status == storage::repo_status::synced || job_.drains();
  }

  /// @pre the repo is tracked
  bool wants_fetch(const storage::repo_row& row) const noexcept {
    return !job_.runs() && row.account == storage::account_status::active
           && row.status != storage::repo_status::synced;
  }

  /// The copy differs from what the host has, or may differ: the repo is
  /// fetched (SYNC-07). Ends a fetch that runs.
  void desync(std::string reason, repo_turn& t);

  /// A user asked for a fetch (SYNC-33), so no pause applies.
  void resync(repo_turn& t);

  /// Asks for a fetch, now or, when there were many recently, after a pause.
  void wish_fetch(repo_turn& t);

  /// Keeps a commit until it can be judged. If there is no room, the commit is
  /// dropped and a fetch brings it.
  void keep(waiting_frame x, repo_turn& t);

  /// A document names another key or host: what was refused before may have
  /// been valid, and a fetch that failed with the old ones may succeed.
  void take_new_identity(repo_turn& t);

  /// Fetches the repo again if it was indexed under another filter.
  void check_filter(repo_turn& t);

  /// Another event arrived while the last fetch had failed because of a key:
  /// the document may name the right key by now (protocol-coverage.md 5.2).
  /// After a few such tries only the back-off of the fetch applies.
  void hurry_fetch(repo_turn& t);

  /// Nothing is fetched now, so a failure of the last fetch is forgotten.
  void forget_failure(repo_turn& t);

  // -- gaps -------------------------------------------------------------------

  /// An event was dropped that may have been valid (CONS-11). The repo goes on
  /// until its fetch is due, in case the next event shows that nothing is
  /// missing.
  void open_gap(repo_turn& t);

  /// Fetches the repo when its gap is due.
  void attend_gap(repo_turn& t);

  /// A commit followed on the copy, so nothing is missing.
  void close_gap(repo_turn& t);

  /// The row says that nothing is missing, unless something is still not
  /// judged.
  void end_gap(repo_turn& t);

  bool has_gap() const noexcept { return plan_.gap_due().has_value(); }

  // -- fetches ----------------------------------------------------------------

  /// A fetch begins. It contains what was dropped before.
  void begin_fetch() noexcept { plan_.close_gap(); }

  /// @param rev The rev of the root.
  void end_fetch(atproto::tid rev, repo_turn& t);

  /// Whether the host does not have this rev, however often a relay lists it.
  bool is_disproved(atproto::tid rev, const now_time& now) const noexcept {
    return plan_.is_disproved(rev, now.steady);
  }

  // -- one life and the next --------------------------------------------------

  /// Called when the row is loaded: what the last life did not judge is lost.
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
