#pragma once

#include "actors/repo/host_question.hpp"
#include "actors/repo/listing_suspicion.hpp"
#include "actors/repo/repo_chain.hpp"
#include "actors/repo/sync_state.hpp"
#include "actors/support/account_sources.hpp"

namespace weir::actors {

/// Decides whether an account is active, from what its host, relays and the
/// directory report (protocol-coverage.md 4.1), and what a change means for the
/// copy: the repo of an account that returns is fetched, that of a deleted
/// account is purged (protocol-coverage.md 4.t5).
class account_rules {
public:
  account_rules(fetch_job& job, sync_state& sync, identity_view& identity,
                repo_chain& chain, host_question& question,
                listing_suspicion& listed) noexcept
    : job_(job), sync_(sync), identity_(identity), chain_(chain),
      question_(question), listed_(listed) {}

  /// Called when the row is loaded. If some events were not judged and the
  /// account is inactive, its host is asked, because no fetch would show that
  /// the account is active again.
  void resume(repo_turn& t);

  void begin_life() noexcept {
    question_.begin_life();
    chain_.forget();
  }

  void end_life() noexcept { listed_.close(); }

  /// Whether this #account event was processed before. After a crash, streams
  /// repeat frames; a repeated event must not undo what a later one decided.
  static bool was_heard(const position& at, const repo_turn& t) noexcept {
    return account_sources::was_heard(t.row.words, at);
  }

  /// Processes an #account event, unless it was processed before.
  void hear_event(const account_sources::saying& what, repo_turn& t);

  /// Processes what a new #account event or a listing reports.
  void hear(const account_sources::saying& what, repo_turn& t);

  /// Processes what the directory reports: the identity exists, or it has a
  /// tombstone. Only a second tombstone answer, minutes after the first, erases
  /// the copy, because the directory may be wrong.
  void hear_directory(const storage::identity_row& x, repo_turn& t);

  /// Called after a report was stored: sets the account's status to the one
  /// that follows from all reports.
  void follow_words(repo_turn& t);

  /// Removes the reports of relays that the node no longer follows, because
  /// those relays can no longer withdraw them.
  void forget_strangers(repo_turn& t);

  /// A fetch was requested while the account is inactive (SYNC-33). Its current
  /// status decides whether there is anything to fetch, so its host is asked,
  /// and also the directory if that has a tombstone.
  void resync(repo_turn& t);

  /// Commits arrive although the account is inactive, so the known status may
  /// be wrong. The host is asked, unless only a relay reports the account as
  /// inactive: the host cannot answer for that.
  void doubt_inactive(repo_turn& t);

private:
  void come_back(bool was_synced, repo_turn& t);
  void purge(repo_turn& t);

  fetch_job& job_;
  sync_state& sync_;
  identity_view& identity_;
  repo_chain& chain_;
  host_question& question_;
  listing_suspicion& listed_;
  tombstone_words gone_; ///< Tombstone answers of the directory.
};

} // namespace weir::actors
