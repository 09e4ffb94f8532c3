#pragma once

#include "actors/repo/account_rules.hpp"
#include "actors/repo/copy_proof.hpp"

#include <optional>
#include <string>

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
  void hear_answer(const account_told& x, repo_turn& t);

  /// The host refused a fetch because the account is not active or not there.
  /// @returns whether the refusal counts, so that there is nothing to fetch.
  bool hear_refusal(storage::account_status said, repo_turn& t);

  /// A document arrived. If it was requested after the report that waits, the
  /// report counts now, or it is dropped because the document names another
  /// host.
  void hear_document(const identity_answer& x, repo_turn& t);

  /// Whether a report waits for a document.
  bool waits() const noexcept { return word_.has_value(); }

  /// A fetch or a new life begins: only later reports count.
  void forget() noexcept { word_.reset(); }

  /// The repo was fetched from its host, so the account is active there.
  void note_fetched(repo_turn& t);

  /// The document names another host than the row did.
  /// @param had_host The row named a host, and the known states come from that
  /// host.
  void move(bool had_host, repo_turn& t);

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

  void hear_during_fetch(const account_told& x, repo_turn& t);
  void hear_the_same(const account_told& x, repo_turn& t);
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
