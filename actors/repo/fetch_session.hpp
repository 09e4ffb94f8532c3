#pragma once

#include "actors/repo/host_words.hpp"

#include <string>

namespace weir::actors {

/// How a repo is fetched (SYNC-04 to SYNC-15): SUPERVISOR finds its host and
/// gives a permit; the row says `syncing`; the download is ordered; its parts
/// are written, then its root; the commits of the sync buffer follow, and the
/// repo is in sync.
class fetch_session {
public:
  fetch_session(host_words& words, fetch_job& job, sync_buffer& buffer,
                sync_state& sync, identity_view& identity,
                identity_doubt& doubt, repo_chain& chain) noexcept
    : words_(words), job_(job), buffer_(buffer), sync_(sync),
      identity_(identity), doubt_(doubt), chain_(chain) {
    // nop
  }

  /// The row is there. If a fetch ran when the last life ended, what it brought
  /// or buffered may be incomplete: the next one makes it whole.
  void resume(repo_turn& t);

  // -- before it begins -------------------------------------------------------

  /// Whether a fetch has to wait for a newer document. That the known one may
  /// have changed is no reason; that something speaks against it is.
  bool put_off();

  /// SUPERVISOR found no host for a fetch.
  /// @returns why it does not begin; `ec::none` when none is wanted.
  error fail_look_up(const identity_answer& x, repo_turn& t);

  /// A document is there: a fetch that was put off is wanted again.
  void go_on(repo_turn& t);

  /// The document names another host than the row did: a fetch that is wanted
  /// waits among those of that host.
  /// @param had_host The row named one.
  void move(bool had_host, repo_turn& t);

  /// There is no document for a fetch that was put off.
  void go_on_without_document(const error& why, repo_turn& t);

  /// The repo's actor ends. Nobody wakes a repo for a fetch that was put off
  /// but the queue. Its next life may put it off again, so not at once.
  void sleep(repo_turn& t);

  // -- while it runs ----------------------------------------------------------

  /// No fetch is wanted for which there is a permit, or not now.
  static void refuse(uint64_t job, repo_effects& out);

  /// A permit was granted.
  /// @pre A document is known.
  void begin(uint64_t job, repo_turn& t);

  /// Orders the download when the row that says `syncing` was sent, and the
  /// chain on disk is the one that the repo goes on from.
  void try_order(const wire::collection_filter& filter, repo_turn& t);

  void take_chunk(fetch_chunk x, repo_turn& t);

  void take_root(const atproto::verified_root& x, repo_turn& t);

  /// Writes the root once all chunks are durable (CONS-14), and lets the
  /// buffered commits follow.
  void try_finish(repo_turn& t);

  /// The last buffered commit was taken: the repo is in sync, or what waited
  /// for a document is judged.
  /// @returns whether frames that had to wait for the latter may be taken now.
  bool try_end_drain(repo_turn& t);

  /// It did not succeed: sets the status and when it is tried again (SYNC-06,
  /// SYNC-13, SYNC-15).
  void take_failure(const fetch_failure& why, repo_turn& t);

  /// JOURNAL did not write a chunk of it, because it was of an older fetch.
  void take_stale_chunk(repo_turn& t);

  /// An update breaks a limit and always will: a failure of this repo, which
  /// goes back to what is durable (SYNC-13). Its frames are finished when the
  /// row says so; the fetch that follows contains them.
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
