#pragma once

#include "actors/repo/fetch_job.hpp"
#include "actors/repo/identity_view.hpp"
#include "actors/repo/refetch_plan.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace weir::actors {

/// Which collections of a repo are kept: those that it was added with, or, if
/// none were named, those that pass the filter of the node (SYNC-20).
class kept_collections {
public:
  /// A row that names no collection selects the filter of the node.
  void set(const storage::member_row& row) {
    own_.reset();
    if (row.collections.empty())
      return;
    if (auto own = wire::collection_filter::parse(row.collections))
      own_ = std::move(*own);
  }

  void begin_life(std::vector<std::string> collections, repo_turn& t) {
    storage::member_row row{t.settings.filter_generation,
                            std::move(collections)};
    set(row);
    t.lane.set_member(std::move(row));
  }

  /// The repo was added again: the named collections replace the kept ones.
  /// @returns whether they are different.
  bool change(const std::vector<std::string>& collections, repo_turn& t) {
    const auto wanted = wire::collection_filter::parse(collections);
    if (collections.empty() || !wanted
        || (own_ && own_->patterns() == wanted->patterns()))
      return false;
    begin_life(collections, t);
    return true;
  }

  bool has_own() const noexcept { return own_.has_value(); }

  const wire::collection_filter&
  filter(const repo_settings& settings) const noexcept {
    return own_ ? *own_ : settings.filter;
  }

private:
  std::optional<wire::collection_filter> own_;
};

/// Whether a repo's copy is in sync with its host, and when it is fetched if it
/// is not. A repo that falls out of sync again and again is fetched at growing
/// intervals, so that nobody can cause endless fetches. No other part sets the
/// status of the row, or the time of its next try.
class sync_state {
public:
  sync_state(fetch_job& job, sync_buffer& buffer, identity_view& identity,
             document_wait& wait, const kept_collections& kept) noexcept
    : job_(job), buffer_(buffer), identity_(identity), wait_(wait),
      kept_(kept) {}

  /// Whether commits are applied: the repo is in sync, or its buffer drains.
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
  void resync(repo_turn& t) {
    desync("asked for", t);
    t.row.error.clear();
    fetch_now(t);
  }

  /// What made the last fetch fail may be over, so the next one does not wait.
  void fetch_now(repo_turn& t) {
    t.row.next_retry = 0;
    t.touch_row();
    t.wish_fetch(0);
  }

  /// Asks for a fetch, now or, when there were many recently, after a pause.
  void wish_fetch(repo_turn& t);

  /// Keeps a commit until it can be judged; without room, a fetch brings it.
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
  void forget_failure(repo_turn& t) {
    leave_fetch(t);
    forget_tries(t);
  }

  /// The account is active again. Commits that came meanwhile were dropped, so
  /// the repo is fetched. A fetch that finds nothing new appends nothing.
  void come_back(repo_turn& t) {
    const auto was_synced = t.row.status == storage::repo_status::synced;
    leave_fetch(t);
    if (was_synced)
      t.row.error = "commits may have been missed while it was inactive";
    wish_fetch(t);
  }

  // -- gaps -------------------------------------------------------------------

  /// An event was dropped that may have been valid (CONS-11). The repo is
  /// fetched later, as the next event may show that nothing is missing.
  void open_gap(repo_turn& t);

  /// Fetches the repo when its gap is due.
  void attend_gap(repo_turn& t);

  /// The row says that something is missing, until a fetch has ended.
  static void mark_gap(repo_turn& t) { t.set(t.row.gap, true); }

  /// A commit followed on the copy, so nothing is missing.
  void close_gap(repo_turn& t) {
    if (!has_gap())
      return;
    plan_.close_gap();
    end_gap(t);
  }

  /// The row says that nothing is missing, unless something is not judged.
  void end_gap(repo_turn& t) {
    if (takes_commits(t.row) && !wait_.open() && !has_gap())
      t.set(t.row.gap, false);
  }

  bool has_gap() const noexcept { return plan_.gap_due().has_value(); }

  // -- fetches ----------------------------------------------------------------

  /// A fetch begins. It contains what was dropped before.
  void begin_fetch() noexcept { plan_.close_gap(); }

  /// Its download is about to be ordered.
  void begin_download(uint64_t job, repo_turn& t) {
    t.row.status = storage::repo_status::syncing;
    t.row.resync_id = job;
    t.touch_row();
  }

  /// The root is written, and the buffer follows.
  /// @param rev The rev of the root.
  void end_fetch(atproto::tid rev, repo_turn& t);

  /// The buffer has followed, too.
  void now_synced(repo_turn& t) {
    t.row.status = storage::repo_status::synced;
    t.touch_row();
  }

  /// The fetch ended without a copy, which is no failure (SYNC-02).
  void leave_fetch(repo_turn& t) noexcept {
    t.row.status = t.row.last_indexed_rev.defined()
                     ? storage::repo_status::desync
                     : storage::repo_status::pending;
  }

  /// The fetch failed. The pause doubles with every failure (SYNC-15).
  void retry_later(const error& why, repo_turn& t);

  /// Whether the host does not have this rev, however often a relay lists it.
  bool is_disproved(atproto::tid rev, const now_time& now) const noexcept {
    return plan_.is_disproved(rev, now.steady);
  }

  // -- one life and the next --------------------------------------------------

  /// Called when the row is loaded: what the last life did not judge is lost.
  void resume(repo_turn& t) {
    if (!t.row.gap || t.row.status != storage::repo_status::synced)
      return;
    t.lane.clear_buffer();
    desync("events that were not verified are lost", t);
  }

  void end_life(repo_turn& t);

private:
  static void forget_tries(repo_turn& t) {
    t.row.error.clear();
    t.row.retry_count = 0;
    t.row.next_retry = 0;
  }

  fetch_job& job_;
  sync_buffer& buffer_;
  identity_view& identity_;
  document_wait& wait_;
  const kept_collections& kept_;
  refetch_plan plan_;
};

} // namespace weir::actors
