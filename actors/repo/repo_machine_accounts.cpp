#include "actors/repo/limits.hpp"
#include "actors/repo/needed_rev.hpp"
#include "actors/repo/repo_clock.hpp"
#include "actors/repo/repo_machine.hpp"
#include "actors/support/account_sources.hpp"
#include "actors/support/limits.hpp"
#include "base/stored_time.hpp"
#include "storage/format/account_fact.hpp"

#include <algorithm>
#include <utility>

/// Whether the account is active, and who may say so (protocol-coverage.md 4).
namespace weir::actors {

using storage::account_status;
using storage::repo_status;

namespace {

/// Whether a document is so young that its host is the current one.
bool is_current(const std::optional<storage::identity_row>& x, now_time now) {
  return x
         && age_of(x->fetched_at, now.wall) <= limits::identity_current.count();
}

} // namespace

/// One `$identity` or `$account` operation: the facts as they are now.
void repo_machine::append_fact(std::string_view scope, now_time now) {
  const auto json = storage::fact_json(row_);
  const auto content = as_bytes(json);
  storage::transaction tx;
  tx.time_us = now.wall.micros;
  tx.ops.push_back({std::string{scope},
                    atproto::op_action::update,
                    {},
                    atproto::cid::of_raw(content),
                    shared_bytes::copy_of(content),
                    false});
  next_bytes_ += json.size();
  next_.transactions.push_back(std::move(tx));
  next_used_ = true;
}

// -- #account -----------------------------------------------------------------

/// Frames come again after a crash; what was decided by a later one stays.
bool repo_machine::account_replayed(const position& at) const noexcept {
  return account_sources::was_heard(row_.words, at);
}

void repo_machine::take_account(const waiting_frame& x,
                                const atproto::account_event& event,
                                const upstream_board& board, now_time now,
                                repo_effects& out) {
  doubt_.forget_word(x.frame.at.upstream);
  obey_event(account_sources::told_by(x.frame, event), board, now, out);
  settle(x, out);
}

void repo_machine::obey_event(const account_sources::saying& what,
                              const upstream_board& board, now_time now,
                              repo_effects& out) {
  if (account_replayed(what.at))
    count(repo_counter::replayed, out);
  else
    hear_account(what, board, now, out);
}

/// A stream or a listing says what the account is (protocol-coverage.md 4.1).
void repo_machine::hear_account(const account_sources::saying& what,
                                const upstream_board& board, now_time now,
                                repo_effects& out) {
  const auto own = account_sources::has_own_stream(board, row_.pds);
  const auto heard = account_sources::hear(row_.words, what, own);
  if (account_sources::forget_strangers(row_.words, board) || heard.changed)
    touch_row();
  if (!what.listed)
    question_.note_event();
  follow_words(now, out);
  if (!what.listed
      && account_sources::denies_tombstone(row_.words, what.said, what.relay,
                                           own))
    doubt_document(now, out);
  if (!heard.ask)
    return;
  question_.want();
  ask_host(now, out);
}

/// The account is what follows from everybody's words.
void repo_machine::follow_words(now_time now, repo_effects& out) {
  const auto status = storage::combined(row_.words);
  if (status == row_.account)
    return;
  count(repo_counter::account_changed, out);
  suspicion_.reset(); // Seen before this.
  const auto was_whole = row_.status == repo_status::synced;
  const auto told_by_host = row_.words.host != account_status::active;
  if (row_.words.tombstoned || (told_by_host && tip_.rev.defined()))
    doubt_document(now, out); // A former host, or a directory that erred.
  row_.account = status;
  touch_row();
  if (status == account_status::active) {
    append_fact(storage::account_scope, now);
    // Commits that came meanwhile were dropped. A fetch that finds nothing new
    // appends nothing.
    row_.status = status_without_job();
    if (was_whole)
      row_.error = "commits may have been missed while it was inactive";
    wish_fetch(now, out);
    return;
  }
  if (job_) {
    end_job(out, fail(ec::account_inactive, storage::to_string(status)));
    row_.status = status_without_job();
  }
  if (row_.status == repo_status::error)
    forget_failure(); // Nothing is fetched meanwhile, so nothing fails.
  if (status == account_status::deleted)
    purge();
  append_fact(storage::account_scope, now);
}

/// protocol-coverage.md 4; actors.md, Erasing. Commits that wait in this very
/// update would outlive the mark, so they go at once.
void repo_machine::purge() {
  drop_commits();
  next_.erase = true;
  ++row_.incarnation;
  row_.status = repo_status::pending;
  row_.error.clear();
  row_.retry_count = 0;
  row_.next_retry = 0;
  row_.last_indexed_rev = {};
  row_.first_rev = {};
  row_.fcsr = {};
  needed_rev::settle(row_);
  row_.not_found_at = 0;
  tip_ = {};
}

/// Whoever goes on writing is not away (protocol-coverage.md 2.1.3). A relay's
/// verdict is that relay's: the host has nothing to say about it.
void repo_machine::doubt_inactive(now_time now, repo_effects& out) {
  if (row_.words.tombstoned)
    doubt_document(now, out);
  if (row_.words.host == account_status::active)
    return;
  question_.want();
  ask_host(now, out);
}

// -- what its host says when it is asked (protocol-coverage.md 4.5, 5) --------

/// As soon as it is known which host that is.
void repo_machine::ask_host(now_time now, repo_effects& out) {
  if (!question_.wanted())
    return;
  if (question_.due() > now.steady) {
    arm(question_.due(), out);
    return;
  }
  const auto& pds = identity_ ? identity_->pds : row_.pds;
  if (pds.empty()) {
    ask_identity(out);
    return;
  }
  // One that waited here for its time must not be dropped as too soon.
  out.ask_host = asked_host{pds, question_.not_found(),
                            question_.at_once() || question_.waits(),
                            question_.urgent()};
  question_.asked(now.steady);
}

repo_effects repo_machine::on_host_unasked(bool not_found, bool urgent,
                                           now_time now) {
  repo_effects out;
  if (!loaded_ || !exists_)
    return out;
  question_.put_off(not_found, urgent,
                    now.steady + limits::account_question_pause);
  ask_host(now, out);
  return out;
}

repo_effects repo_machine::on_host_answer(const host_answer& x,
                                          const upstream_board& board,
                                          now_time now) {
  repo_effects out;
  if (!loaded_ || !exists_)
    return out;
  if (x.once && x.pds == row_.pds)
    note_lost(now);
  if (job_ || x.once) { // A fetch asks the host itself.
    if (!x.once && x.account == account_status::deleted && x.pds == row_.pds)
      question_.note_gone();
    if (!x.once && job_->draining && x.pds == row_.pds
        && x.account != row_.words.host) {
      question_.want(); // What was fetched may be older than the answer.
      ask_host(now, out);
    }
    flush(out);
    return out;
  }
  if (account_sources::forget_strangers(row_.words, board)) {
    touch_row();
    follow_words(now, out);
  }
  if (x.account != row_.words.host && question_.is_overtaken()) {
    question_.want_now(); // Nobody knows which of the two is newer.
    ask_host(now, out);
    flush(out);
    return out;
  }
  if (x.account == row_.words.host) {
    if (x.pds == row_.pds && account_sources::answer(row_.words, x.account))
      touch_row();
    hear_rev(x, board, now, out);
    const auto denies_tombstone = row_.words.tombstoned && x.pds == row_.pds
                                  && x.account != account_status::deleted;
    if (denies_tombstone)
      doubt_tombstone(now, out);
    if (std::exchange(row_.not_found_at, 0) != 0)
      touch_row();
    if (x.account != account_status::active && !denies_tombstone) {
      // Something spoke against what is known, or nobody would have asked. The
      // host may be the former one, so the document is looked up.
      pace_.wanted = true;
      doubt_document(now, out);
    }
    flush(out);
    return out;
  }
  host_word_ = host_word{x.account, x.pds, asked_, true};
  if (is_current(identity_, now)) {
    believe_host(now, out);
    look_for_move(x.account, now, out);
  } else {
    pace_.wanted = true;
    try_refresh(now, out);
  }
  flush(out);
  return out;
}

// -- what getRepo says of the account (protocol-coverage.md 5) ----------------

/// A host that was asked by an old document may be the former one: its word
/// counts when a new document names it again.
/// @returns whether it was obeyed, so that there is nothing to fetch.
bool repo_machine::hear_refusal(account_status status, now_time now,
                                repo_effects& out) {
  const auto is_lost = status == account_status::deleted;
  // Else what was noted was said before its host said something else.
  const auto said_twice = is_lost && question_.take_gone()
                          && row_.not_found_at != 0;
  const auto doubted = identity_pending_ || pace_.open();
  if (doubted || !is_current(identity_, now)) {
    host_word_ = host_word{status, identity_ ? identity_->pds : row_.pds,
                           asked_, said_twice};
    pace_.wanted = true;
    try_refresh(now, out);
    return false;
  }
  if (is_lost && !said_twice) {
    ask_for_lost(now, out);
    return false;
  }
  obey_host(status, now, out);
  look_for_move(status, now, out);
  return true;
}

/// A document came that was asked for after the word: no clock says which of
/// the two is newer.
void repo_machine::take_host_word(const identity_answer& x, now_time now,
                                  repo_effects& out) {
  if (host_word_ && !job_ && x.settled && asked_anew_ > host_word_->asked_so_far
      && x.asked >= asked_anew_)
    believe_host(now, out);
}

/// @pre `host_word_` and a document that is newer, or young enough
void repo_machine::believe_host(now_time now, repo_effects& out) {
  const auto said = *std::exchange(host_word_, std::nullopt);
  if (!said.asked && row_.status != repo_status::error)
    return;
  if (identity_->pds == said.pds) {
    if (said.asked || said.account != account_status::deleted)
      obey_host(said.account, now, out);
    else
      ask_for_lost(now, out);
    return;
  }
  if (said.asked) { // Another host: ask that one.
    question_.want_now();
    ask_host(now, out);
  }
  if (row_.status != repo_status::error)
    return;
  row_.next_retry = 0;
  touch_row();
  out.wish = fetch_wish{row_.status, 0};
}

void repo_machine::forget_failure() {
  row_.status = status_without_job();
  row_.error.clear();
  row_.retry_count = 0;
  row_.next_retry = 0;
}

void repo_machine::obey_host(account_status status, now_time now,
                             repo_effects& out) {
  const auto fetch_failed = row_.status == repo_status::error
                            || row_.status == repo_status::syncing;
  if (status != account_status::active && fetch_failed)
    forget_failure();
  const auto was_lost = std::exchange(row_.not_found_at, 0) != 0;
  if (account_sources::answer(row_.words, status) || was_lost)
    touch_row();
  follow_words(now, out);
}

/// For the next life: the second answer counts a while after the first.
void repo_machine::note_lost(now_time now) {
  if (row_.not_found_at != 0)
    return;
  row_.not_found_at = now.wall.seconds();
  touch_row();
}

/// A fetch was told RepoNotFound. Nothing is erased for one answer.
void repo_machine::ask_for_lost(now_time now, repo_effects& out) {
  note_lost(now);
  question_.want_after_not_found();
  ask_host(now, out);
}

/// What is believed follows from the host that the document names, and
/// something else speaks against it: a directory may have lagged behind a
/// migration.
void repo_machine::doubt_document(now_time now, repo_effects& out) {
  pace_.retry.expect(now.steady);
  if (pace_.retry.outlives_crash() && !std::exchange(row_.identity_due, true))
    touch_row();
  try_refresh(now, out);
}

/// What the directory says of the identity. One tombstone is a doubt: only a
/// second one, minutes later, erases what is held.
void repo_machine::hear_tombstone(const storage::identity_row& fact,
                                  now_time now, repo_effects& out) {
  const auto was_said = pace_.gone.said();
  const auto twice = pace_.gone.hear(fact, settings_->gone_grace);
  const auto loses = tip_.rev.defined() && !row_.words.tombstoned;
  if (fact.tombstoned && loses && !twice) {
    if (!was_said)
      doubt_document(now, out);
    return;
  }
  const auto changed
    = account_sources::note_identity(row_.words, fact.tombstoned);
  if (!fact.tombstoned && (changed || was_said) && row_.refused_by == 0)
    pace_.retry.settle(); // That was the doubt.
  if (!changed)
    return;
  touch_row();
  follow_words(now, out);
}

/// Its host says that it has the account and the directory that there is no such
/// identity, which only a document withdraws. It is asked as if nothing spoke
/// against it, so that a host that says it for ever costs no more.
void repo_machine::doubt_tombstone(now_time now, repo_effects& out) {
  if (!row_.words.tombstoned)
    return;
  constexpr std::chrono::seconds pause = limits::identity_fresh;
  ask_identity(out); // What is older than that is looked up.
  if (!identity_ || age_of(identity_->fetched_at, now.wall) < pause.count())
    return;
  pace_.wanted = true;
  try_refresh(now, out);
}

/// The states that are known are those of its former host.
void repo_machine::move_host(const std::string& pds) {
  if (!row_.pds.empty() && row_.words.host != account_status::active)
    question_.want_now();
  row_.pds = pds;
  row_.not_found_at = 0;
  row_.left_out_by = 0;
  touch_row();
}

} // namespace weir::actors
