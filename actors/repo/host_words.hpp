#pragma once

#include "actors/repo/account_rules.hpp"
#include "actors/repo/copy_proof.hpp"

#include <optional>
#include <string>

namespace weir::actors {

/// What the current host says of an account when it is asked (getRepoStatus),
/// or when it refuses a fetch (getRepo), and when that counts: only if the
/// document that names the host is newer than its word, because a former host
/// says that an account is away, too.
class host_words {
public:
  host_words(account_rules& account, copy_proof& proof, fetch_job& job,
             sync_state& sync, identity_view& identity,
             host_question& question) noexcept
    : account_(account), proof_(proof), job_(job), sync_(sync),
      identity_(identity), question_(question) {
    // nop
  }

  /// It was asked for the account.
  void hear_answer(const host_answer& x, repo_turn& t);

  /// It refused a fetch, since the account is not active or not there.
  /// @returns whether that counts, so that there is nothing to fetch.
  bool hear_refusal(storage::account_status said, repo_turn& t);

  /// A document came: if it was asked for after the word that waits, that
  /// counts now, or it is another host's.
  void hear_document(const identity_answer& x, repo_turn& t);

  /// A word waits for a document.
  bool waits() const noexcept { return word_.has_value(); }

  /// A fetch begins, or another life: what is said then counts.
  void forget() noexcept { word_.reset(); }

  /// The repo was fetched from it, so the account is active there.
  void note_fetched(repo_turn& t);

  /// The document names another host than the row did.
  /// @param had_host The row named one. The states that are known are its.
  void move(bool had_host, repo_turn& t);

private:
  /// Waits until a document names its host anew.
  struct word {
    storage::account_status account = storage::account_status::active;
    std::string pds;
    uint64_t asked_so_far = 0; ///< Questions for the identity before it.
    /// It was asked for the account, as often as it takes; else it only refused
    /// a fetch.
    bool asked = false;
  };

  void hear_during_fetch(const host_answer& x, repo_turn& t);
  void hear_the_same(const host_answer& x, repo_turn& t);
  void believe(repo_turn& t);
  void obey(storage::account_status said, repo_turn& t);
  void note_not_found(repo_turn& t);
  void ask_again(repo_turn& t);
  void look_for_move(storage::account_status said, repo_turn& t);

  account_rules& account_;
  copy_proof& proof_;
  fetch_job& job_;
  sync_state& sync_;
  identity_view& identity_;
  host_question& question_;
  std::optional<word> word_;
};

} // namespace weir::actors
