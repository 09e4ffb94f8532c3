#pragma once

#include "actors/repo/completeness_machine.hpp"
#include "actors/repo/host_words.hpp"

#include <string>

namespace weir::actors {

/// How a repo is fetched (SYNC-04 to SYNC-15), in this order: SUPERVISOR finds
/// its host and gives a permit; the row says `syncing`; the download is
/// ordered; its parts are written, then its root; the commits of the sync
/// buffer follow; the repo is in sync.
class fetch_session {
public:
  fetch_session(host_words& words, fetch_job& job, sync_buffer& buffer,
                sync_state& sync, identity_view& identity,
                document_wait& wait, repo_chain& chain) noexcept
    : words_(words), job_(job), buffer_(buffer), sync_(sync),
      identity_(identity), wait_(wait), chain_(chain) {}

  /// The row was loaded. A fetch that ran when the previous actor ended may be
  /// incomplete, and the next one replaces it.
  void resume(repo_turn& t);

  // -- before it begins -------------------------------------------------------

  /// Whether a fetch has to wait for a newer document: only when there is
  /// evidence against the known one, not if it may merely have changed.
  bool put_off() {
    const auto waits = wait_.open() && identity_.pending();
    return (waits || identity_.is_blind()) && wait_.put_off();
  }

  /// SUPERVISOR found no host for a fetch.
  /// @returns why it does not begin, if one is wanted.
  std::optional<error> fail_look_up(const identity_answer& x, repo_turn& t);

  /// A document arrived: a fetch that was put off is wished for again.
  void go_on(repo_turn& t) {
    const auto waits = wait_.open() && identity_.pending();
    if (!waits && wait_.resume() && sync_.wants_fetch(t.row))
      t.wish_fetch(t.row.next_retry);
  }

  /// The document names another host: a wish for a fetch moves to its queue.
  /// @param had_host The row named a host.
  void move(bool had_host, repo_turn& t) {
    words_.move(had_host, t);
    if (sync_.wants_fetch(t.row) && !t.row.pds.empty())
      t.wish_fetch(t.row.next_retry);
  }

  /// The look-up for a fetch that was put off brought no document.
  void go_on_without_document(const error& why, repo_turn& t) {
    if (wait_.resume() && sync_.wants_fetch(t.row))
      take_failure({.reason = why}, t);
  }

  /// The actor of the repo ends. Only the queue wakes the repo for a fetch that
  /// was put off, or to look at its tombstone again: not for now, as it may be
  /// put off again. A repo in sync that drops an event now is fetched as soon
  /// as there is a permit: the queue does not find it by its row.
  void sleep(repo_turn& t) {
    const auto soon = t.now.wall.seconds() + limits::gap_pause_min.count();
    if ((wait_.resume() && sync_.wants_fetch(t.row))
        || (t.row.words.tombstoned && t.row.identity_due))
      t.wish_fetch(std::max(t.row.next_retry, soon));
    else if (t.row.gap && sync_.takes_commits(t.row)
             && completeness::counts(t.row))
      t.wish_fetch(0);
  }

  // -- while it runs ----------------------------------------------------------

  /// There is a permit, but no fetch is wanted, or none now.
  static void refuse(uint64_t job, repo_turn& t) {
    t.out.job_end = job_ended{t.lane.repo(), job,
                              fail(ec::cancelled, "no fetch is wanted")};
  }

  /// A permit was granted.
  /// @pre A document is known.
  void begin(uint64_t job, repo_turn& t);

  /// Orders the download when the row that says `syncing` was sent and the
  /// chain on disk is the one that the repo continues from.
  void try_order(const wire::collection_filter& filter, repo_turn& t);

  void take_chunk(repo_chunk x, repo_turn& t) {
    t.count_undecodable(x.ops);
    job_.add(std::move(x));
  }

  /// Writes the root once all chunks are durable (CONS-14); the buffer follows.
  void try_finish(repo_turn& t);

  /// The last buffered commit was taken: the repo is in sync, or everything
  /// that waited for a document is judged.
  /// @returns whether frames that had to wait for the latter may be taken now.
  bool try_end_drain(repo_turn& t);

  /// The fetch failed: sets the status and the next try (SYNC-06, 13, 15).
  void take_failure(const repo_fetch_failed& why, repo_turn& t);

  /// JOURNAL refused a chunk because it belongs to an older fetch.
  void take_stale_chunk(repo_turn& t);

  /// An update breaks a limit and always will. The repo counts this as its own
  /// failure and goes back to its durable state (SYNC-13). Its frames are
  /// finished when the row says so; the next fetch contains them.
  void take_refused_update(const std::string& reason, repo_turn& t);

private:
  host_words& words_;
  fetch_job& job_;
  sync_buffer& buffer_;
  sync_state& sync_;
  identity_view& identity_;
  document_wait& wait_;
  repo_chain& chain_;
};

} // namespace weir::actors
