#include "actors/repo/account_rules.hpp"

#include "actors/repo/needed_rev.hpp"

#include <utility>

namespace weir::actors {

using storage::account_status;
using storage::repo_status;

void account_rules::resume(repo_turn& t) {
  if (t.row.gap && t.row.account != account_status::active)
    doubt_inactive(t);
}

void account_rules::hear_event(const account_sources::saying& what,
                               repo_turn& t) {
  if (was_heard(what.at, t))
    t.count(repo_counter::replayed);
  else
    hear(what, t);
}

void account_rules::hear(const account_sources::saying& what, repo_turn& t) {
  const auto own = account_sources::has_own_stream(t.board(), t.row.pds);
  const auto heard = account_sources::hear(t.row.words, what, own);
  if (account_sources::forget_strangers(t.row.words, t.board())
      || heard.changed)
    t.touch_row();
  if (!what.listed)
    question_.note_event();
  follow_words(t);
  if (!what.listed
      && account_sources::denies_tombstone(t.row.words, what.said, what.relay,
                                           own))
    identity_.dispute(t);
  if (!heard.ask)
    return;
  question_.want();
  question_.ask(t);
}

void account_rules::hear_directory(const storage::identity_row& x,
                                   repo_turn& t) {
  const auto was_said = gone_.said();
  const auto twice = gone_.hear(x, t.settings.gone_grace);
  const auto loses = chain_.rev().defined() && !t.row.words.tombstoned;
  if (x.tombstoned && loses && !twice) {
    if (!was_said)
      identity_.dispute(t);
    return;
  }
  const auto changed
    = account_sources::note_identity(t.row.words, x.tombstoned);
  if (!x.tombstoned && (changed || was_said) && t.row.refused_by == 0)
    // The tombstone was the evidence against the document.
    identity_.end_dispute();
  if (!changed)
    return;
  t.touch_row();
  follow_words(t);
}

void account_rules::follow_words(repo_turn& t) {
  const auto status = storage::combined(t.row.words);
  if (status == t.row.account)
    return;
  t.count(repo_counter::account_changed);
  listed_.close(); // The listing describes the account before this change.
  const auto was_synced = t.row.status == repo_status::synced;
  const auto said_by_host = t.row.words.host != account_status::active;
  if (t.row.words.tombstoned || (said_by_host && chain_.rev().defined()))
    // A former host may have reported it, or the directory may be wrong.
    identity_.dispute(t);
  t.row.account = status;
  t.touch_row();
  if (status == account_status::active) {
    come_back(was_synced, t);
    return;
  }
  if (job_.runs()) {
    job_.end(fail(ec::account_inactive, storage::to_string(status)), t);
    t.row.status = status_without_fetch(t.row);
  }
  if (t.row.status == repo_status::error)
    sync_.forget_failure(t);
  if (status == account_status::deleted)
    purge(t);
  t.lane.append_fact(storage::account_scope, t.row, t.now);
}

/// The account is active again. Commits that came meanwhile were dropped, so
/// the repo is fetched. A fetch that finds nothing new appends nothing.
void account_rules::come_back(bool was_synced, repo_turn& t) {
  t.lane.append_fact(storage::account_scope, t.row, t.now);
  t.row.status = status_without_fetch(t.row);
  if (was_synced)
    t.row.error = "commits may have been missed while it was inactive";
  sync_.wish_fetch(t);
}

void account_rules::purge(repo_turn& t) {
  t.lane.erase();
  ++t.row.incarnation;
  t.row.status = repo_status::pending;
  t.row.error.clear();
  t.row.retry_count = 0;
  t.row.next_retry = 0;
  t.row.last_indexed_rev = {};
  t.row.first_rev = {};
  t.row.fcsr = {};
  needed_rev::settle(t.row);
  t.row.not_found_at = 0;
  chain_.forget();
}

void account_rules::forget_strangers(repo_turn& t) {
  if (!account_sources::forget_strangers(t.row.words, t.board()))
    return;
  t.touch_row();
  follow_words(t);
}

void account_rules::resync(repo_turn& t) {
  question_.want_now();
  if (t.row.words.tombstoned)
    identity_.want();
  identity_.try_refresh(t);
  question_.ask(t);
}

void account_rules::doubt_inactive(repo_turn& t) {
  if (t.row.words.tombstoned)
    identity_.dispute(t);
  if (t.row.words.host == account_status::active)
    return;
  question_.want();
  question_.ask(t);
}

} // namespace weir::actors
