#pragma once

#include "actors/repo/host_question.hpp"
#include "actors/repo/listing_suspicion.hpp"
#include "actors/repo/repo_chain.hpp"
#include "actors/repo/sync_state.hpp"
#include "actors/support/account_sources.hpp"

namespace weir::actors {

/// Whether an account is active, as follows from the words of its host, of
/// relays and of the directory (protocol-coverage.md 4.1), and what a change
/// means for the copy: an account that is back is fetched, one that is deleted
/// is purged (protocol-coverage.md 4.t5).
class account_rules {
public:
  account_rules(fetch_job& job, sync_state& sync, identity_view& identity,
                repo_chain& chain, host_question& question,
                listing_suspicion& listed) noexcept
    : job_(job), sync_(sync), identity_(identity), chain_(chain),
      question_(question), listed_(listed) {
    // nop
  }

  /// The row is there: if events were not judged and the account is away, its
  /// host is asked, because no fetch shows that it is back.
  void resume(repo_turn& t);

  void begin_life() noexcept {
    question_.begin_life();
    chain_.forget();
  }

  void end_life() noexcept { listed_.close(); }

  /// Whether this #account was heard before. Frames come again after a crash;
  /// what a later one decided stays.
  static bool was_heard(const position& at, const repo_turn& t) noexcept {
    return account_sources::was_heard(t.row.words, at);
  }

  /// An #account says what the account is.
  void hear_event(const account_sources::saying& what, repo_turn& t);

  /// An #account that was not heard before, or a listing, says so.
  void hear(const account_sources::saying& what, repo_turn& t);

  /// The directory says of the identity that it is there, or gone. The first
  /// time that is a doubt: only the second time, minutes later, erases what is
  /// held.
  void hear_directory(const storage::identity_row& x, repo_turn& t);

  /// The words have changed: the account is what follows from them.
  void follow_words(repo_turn& t);

  /// Nobody can withdraw the words of relays that are followed no more.
  void forget_strangers(repo_turn& t);

  /// Somebody asked for a fetch while the account is away (SYNC-33): what it is
  /// now decides whether there is one, so its host is asked, and the directory
  /// if that called it gone.
  void resync(repo_turn& t);

  /// Commits come although the account is away: whoever goes on writing is not.
  /// Where a relay alone took it down, the host has nothing to say about that.
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
  tombstone_words gone_; ///< How often the directory said so.
};

} // namespace weir::actors
