#pragma once

#include "actors/repo/account_rules.hpp"
#include "actors/repo/copy_proof.hpp"

#include <optional>
#include <string>
#include <utility>

namespace weir::actors {

/// What the current host reports about an account when it is asked
/// (getRepoStatus) or when it refuses a fetch (getRepo), and when that report
/// counts: only if the document that names the host is newer than the report,
/// because a former host also reports that the account is inactive.
class host_words {
public:
  host_words(account_rules& account, copy_proof& proof, fetch_job& job,
             sync_state& sync, identity_view& identity,
             host_question& question) noexcept
    : account_(account), proof_(proof), job_(job), sync_(sync),
      identity_(identity), question_(question) {}

  /// Processes the answer to a question about the account.
  void hear_answer(const account_said& x, repo_turn& t) {
    if (x.once && x.pds == t.row.pds)
      question_.note_not_found(t);
    if (x.once)
      return;
    if (job_.runs())
      return hear_during_fetch(x, t);
    account_.forget_strangers(t);
    if (x.account == t.row.words.host)
      return hear_the_same(x, t);
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

  /// The host refused a fetch because the account is not active or not there.
  /// @returns whether the refusal counts, so that there is nothing to fetch.
  bool hear_refusal(storage::account_status said, repo_turn& t) {
    const auto is_gone = said == storage::account_status::deleted;
    // Both are needed: the noted one may be older than another report.
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

  /// A document arrived. If it was requested after the report that waits, the
  /// report counts now, or is dropped as the document names another host.
  void hear_document(const identity_answer& x, repo_turn& t) {
    if (word_ && !job_.runs() && identity_.is_newer(x, word_->asked_so_far))
      believe(t);
  }

  /// Whether a report waits for a document.
  bool waits() const noexcept { return word_.has_value(); }

  /// A fetch or a new life begins: only later reports count.
  void forget() noexcept { word_.reset(); }

  /// The repo was fetched from its host, so the account is active there.
  void note_fetched(repo_turn& t) {
    account_sources::answer(t.row.words, storage::account_status::active);
    question_.forget_not_found(t);
  }

  /// The document names another host than the row did.
  /// @param had_host The row named a host, from which the known states come.
  void move(bool had_host, repo_turn& t) {
    if (had_host && t.row.words.host != storage::account_status::active)
      question_.want_now();
    question_.forget_not_found(t);
    t.row.left_out_by = 0;
  }

private:
  /// A report that waits until a document names its host anew.
  struct word {
    storage::account_status account = storage::account_status::active;
    std::string pds;
    uint64_t asked_so_far = 0; ///< Number of identity look-ups before it.
    /// True when the host was asked for the account (and RepoNotFound was
    /// confirmed); false when the host only refused a fetch.
    bool asked = false;
  };

  /// An answer of the host during a fetch, which may have begun before it.
  void hear_during_fetch(const account_said& x, repo_turn& t) {
    if (x.pds != t.row.pds)
      return;
    if (x.account == storage::account_status::deleted)
      question_.note_gone();
    if (job_.drains() && x.account != t.row.words.host)
      question_.want(t);
  }

  void hear_the_same(const account_said& x, repo_turn& t) {
    const auto is_current_host = x.pds == t.row.pds;
    if (is_current_host && account_sources::answer(t.row.words, x.account))
      t.touch_row();
    proof_.hear_host(x, t);
    const auto denies_tombstone
      = t.row.words.tombstoned && is_current_host
        && x.account != storage::account_status::deleted;
    if (denies_tombstone)
      identity_.recheck_tombstone(t);
    question_.forget_not_found(t);
    if (x.account != storage::account_status::active && !denies_tombstone) {
      // There was evidence against what is known, and this host may be the
      // former one, so the document is looked up.
      identity_.want();
      identity_.dispute(t);
    }
  }

  /// @pre a report waits, and the document is newer or young enough
  void believe(repo_turn& t) {
    const auto said = *std::exchange(word_, std::nullopt);
    if (!said.asked && t.row.status != storage::repo_status::error)
      return;
    if (identity_.document()->pds == said.pds) {
      if (said.asked || said.account != storage::account_status::deleted)
        obey(said.account, t);
      else
        ask_again(t);
      return;
    }
    if (said.asked) { // The document names another host: ask that one.
      question_.want_now();
      question_.ask(t);
    }
    if (t.row.status == storage::repo_status::error)
      sync_.fetch_now(t);
  }

  void obey(storage::account_status said, repo_turn& t) {
    const auto fetch_failed = t.row.status == storage::repo_status::error
                              || t.row.status == storage::repo_status::syncing;
    if (said != storage::account_status::active && fetch_failed)
      sync_.forget_failure(t);
    question_.forget_not_found(t);
    if (account_sources::answer(t.row.words, said))
      t.touch_row();
    account_.follow_words(t);
  }

  void ask_again(repo_turn& t) {
    question_.note_not_found(t);
    question_.want_after_not_found(t);
  }

  /// A former host also reports `deactivated` for an account that has moved. By
  /// then the account has a new document, so the known document may be older
  /// than the move, however young it is.
  void look_for_move(storage::account_status said, repo_turn& t) {
    if (said == storage::account_status::deactivated)
      identity_.look_up_for_sure(t);
  }

  account_rules& account_;
  copy_proof& proof_;
  fetch_job& job_;
  sync_state& sync_;
  identity_view& identity_;
  host_question& question_;
  std::optional<word> word_;
};

} // namespace weir::actors
