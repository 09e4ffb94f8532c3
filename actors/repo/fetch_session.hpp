#pragma once

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
                identity_doubt& doubt, repo_chain& chain) noexcept
    : words_(words), job_(job), buffer_(buffer), sync_(sync),
      identity_(identity), doubt_(doubt), chain_(chain) {}

  /// Called when the row is loaded. If a fetch ran when the previous actor of
  /// the repo ended, its chunks or buffer may be incomplete: the next fetch
  /// replaces them.
  void resume(repo_turn& t);

  // -- before it begins -------------------------------------------------------

  /// Whether a fetch has to wait for a newer document: only when there is
  /// evidence against the known document. That it may merely have changed is no
  /// reason.
  bool put_off();

  /// SUPERVISOR found no host for a fetch.
  /// @returns why it does not begin; `ec::none` when none is wanted.
  error fail_look_up(const identity_answer& x, repo_turn& t);

  /// A document arrived: a fetch that was put off is wished for again.
  void go_on(repo_turn& t);

  /// The document names another host than the row did: a wish for a fetch moves
  /// to the queue of the new host.
  /// @param had_host The row named a host.
  void move(bool had_host, repo_turn& t);

  /// The look-up for a fetch that was put off brought no document.
  void go_on_without_document(const error& why, repo_turn& t);

  /// The actor of the repo ends. Only the queue wakes the repo for a fetch that
  /// was put off, so the wish goes there. Its next actor may put it off again,
  /// so the wish is not for an immediate fetch.
  void sleep(repo_turn& t);

  // -- while it runs ----------------------------------------------------------

  /// There is a permit, but no fetch is wanted, or none now.
  static void refuse(uint64_t job, repo_turn& t);

  /// A permit was granted.
  /// @pre A document is known.
  void begin(uint64_t job, repo_turn& t);

  /// Orders the download when the row that says `syncing` was sent and the
  /// chain on disk is the one that the repo continues from.
  void try_order(const wire::collection_filter& filter, repo_turn& t);

  void take_chunk(repo_chunk x, repo_turn& t);

  void take_root(const atproto::verified_root& x, repo_turn& t);

  /// Writes the root once all chunks are durable (CONS-14), and lets the
  /// buffered commits follow.
  void try_finish(repo_turn& t);

  /// Called when the last buffered commit was taken: the repo is in sync, or
  /// everything that waited for a document is judged.
  /// @returns whether frames that had to wait for the latter may be taken now.
  bool try_end_drain(repo_turn& t);

  /// The fetch failed: sets the status and the time of the next try (SYNC-06,
  /// SYNC-13, SYNC-15).
  void take_failure(const repo_fetch_failed& why, repo_turn& t);

  /// JOURNAL refused a chunk because it belongs to an older fetch.
  void take_stale_chunk(repo_turn& t);

  /// An update breaks a limit and always will. The repo counts this as its own
  /// failure and goes back to its durable state (SYNC-13). The frames of the
  /// update are finished when the row says so; the fetch that follows contains
  /// them.
  void take_refused_update(const std::string& reason, repo_turn& t);

private:
  void retry_later(const error& why, repo_turn& t);

  host_words& words_;
  fetch_job& job_;
  sync_buffer& buffer_;
  sync_state& sync_;
  identity_view& identity_;
  identity_doubt& doubt_;
  repo_chain& chain_;
};

} // namespace weir::actors
