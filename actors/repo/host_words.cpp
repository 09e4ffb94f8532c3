#include "actors/repo/host_words.hpp"

#include <utility>

namespace weir::actors {

using storage::account_status;
using storage::repo_status;

// -- it was asked -------------------------------------------------------------

void host_words::hear_answer(const account_told& x, repo_turn& t) {
  if (x.once) {
    if (x.pds == t.row.pds)
      note_not_found(t);
    return;
  }
  if (job_.runs()) {
    hear_during_fetch(x, t);
    return;
  }
  account_.forget_strangers(t);
  if (x.account == t.row.words.host) {
    hear_the_same(x, t);
    return;
  }
  if (question_.is_overtaken()) {
    question_.want_now(); // Either of the two may be the newer one.
    question_.ask(t);
    return;
  }
  word_ = word{x.account, x.pds, identity_.asked(), true};
  if (identity_.is_current(t.now)) {
    believe(t);
    look_for_move(x.account, t);
  } else {
    identity_.look_up(t);
  }
}

/// The fetch asks the host itself, but what was fetched may be older than this
/// answer.
void host_words::hear_during_fetch(const account_told& x, repo_turn& t) {
  if (x.pds != t.row.pds)
    return;
  if (x.account == account_status::deleted)
    question_.note_gone();
  if (job_.drains() && x.account != t.row.words.host) {
    question_.want();
    question_.ask(t);
  }
}

void host_words::hear_the_same(const account_told& x, repo_turn& t) {
  const auto is_current_host = x.pds == t.row.pds;
  if (is_current_host && account_sources::answer(t.row.words, x.account))
    t.touch_row();
  proof_.hear_host(x, t);
  const auto denies_tombstone = t.row.words.tombstoned && is_current_host
                                && x.account != account_status::deleted;
  if (denies_tombstone)
    identity_.doubt_tombstone(t);
  if (std::exchange(t.row.not_found_at, 0) != 0)
    t.touch_row();
  if (x.account != account_status::active && !denies_tombstone) {
    // The question was asked because of evidence against what is known. The
    // host may be the former one, so the document is looked up.
    identity_.want();
    identity_.dispute(t);
  }
}

// -- it refused a fetch -------------------------------------------------------

bool host_words::hear_refusal(account_status said, repo_turn& t) {
  const auto is_gone = said == account_status::deleted;
  // Both RepoNotFound are needed: the noted one may be older than another
  // report of the host.
  const auto said_twice
    = is_gone && question_.take_gone() && t.row.not_found_at != 0;
  if (identity_.may_be_old() || !identity_.is_current(t.now)) {
    word_ = word{said, identity_.host(t.row), identity_.asked(), said_twice};
    identity_.look_up(t);
    return false;
  }
  if (is_gone && !said_twice) {
    ask_again(t);
    return false;
  }
  obey(said, t);
  look_for_move(said, t);
  return true;
}

void host_words::note_fetched(repo_turn& t) {
  account_sources::answer(t.row.words, account_status::active);
  t.row.not_found_at = 0;
}

// -- when its word counts -----------------------------------------------------

void host_words::hear_document(const identity_answer& x, repo_turn& t) {
  if (word_ && !job_.runs() && identity_.is_newer(x, word_->asked_so_far))
    believe(t);
}

/// @pre a report waits, and the document is newer than the report, or young
/// enough
void host_words::believe(repo_turn& t) {
  const auto said = *std::exchange(word_, std::nullopt);
  if (!said.asked && t.row.status != repo_status::error)
    return;
  if (identity_.document()->pds == said.pds) {
    if (said.asked || said.account != account_status::deleted)
      obey(said.account, t);
    else
      ask_again(t);
    return;
  }
  if (said.asked) { // The document names another host: ask that one.
    question_.want_now();
    question_.ask(t);
  }
  if (t.row.status != repo_status::error)
    return;
  t.row.next_retry = 0;
  t.touch_row();
  t.wish_fetch(0);
}

void host_words::obey(account_status said, repo_turn& t) {
  const auto fetch_failed = t.row.status == repo_status::error
                            || t.row.status == repo_status::syncing;
  if (said != account_status::active && fetch_failed)
    sync_.forget_failure(t);
  const auto was_lost = std::exchange(t.row.not_found_at, 0) != 0;
  if (account_sources::answer(t.row.words, said) || was_lost)
    t.touch_row();
  account_.follow_words(t);
}

/// One RepoNotFound erases nothing: it counts when the host repeats it a while
/// later, in this life or the next.
void host_words::note_not_found(repo_turn& t) {
  if (t.row.not_found_at != 0)
    return;
  t.row.not_found_at = t.now.wall.seconds();
  t.touch_row();
}

void host_words::ask_again(repo_turn& t) {
  note_not_found(t);
  question_.want_after_not_found();
  question_.ask(t);
}

/// A former host also reports `deactivated` for an account that has moved. By
/// then the account has a new document, so the known document may be older than
/// the move, however young it is.
void host_words::look_for_move(account_status said, repo_turn& t) {
  if (said == account_status::deactivated)
    identity_.look_up_for_sure(t);
}

void host_words::move(bool had_host, repo_turn& t) {
  if (had_host && t.row.words.host != account_status::active)
    question_.want_now();
  t.row.not_found_at = 0;
  t.row.left_out_by = 0;
}

} // namespace weir::actors
