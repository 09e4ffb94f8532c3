#pragma once

#include "actors/repo/account_rules.hpp"

namespace weir::actors {

/// Decides what proves that a repo's copy is complete, or that it is not
/// (CONS-11 to CONS-30): events of the upstream that accounts for the repo,
/// lines of listings, the rev that its host names, and the census of all rows.
class copy_proof {
public:
  copy_proof(account_rules& account, fetch_job& job, sync_state& sync,
             identity_view& identity, repo_chain& chain,
             open_lines& listed) noexcept
    : account_(account), job_(job), sync_(sync), identity_(identity),
      chain_(chain), listed_(listed) {}

  /// An event of this rev was applied, or repeats what the copy has. One
  /// upstream accounts for a repo; events of others prove nothing (CONS-19,
  /// 20).
  /// @param always True when the event does not contain its changes (CONS-21).
  void note_event(const waiting_frame& x, atproto::tid rev, repo_turn& t,
                  bool always = false);

  /// Whether the upstream that accounts for the repo names it for the first
  /// time since that upstream was reset.
  bool is_first_word(const waiting_frame& x, const repo_turn& t) const;

  /// Processes a line of a listing. The listing of a PDS counts only for its
  /// own accounts (protocol-coverage.md 2.1.2).
  void hear_listing(const repo_listed& x, repo_turn& t);

  /// Decides about a difference that only a listing showed. While the event may
  /// still be on its way, the decision is put off: a fetch would only add load.
  void attend_listing(repo_turn& t);

  /// The host answered with the known account status, and with its rev.
  void hear_host(const account_said& x, repo_turn& t);

  /// The census of all rows found that something is missing. Everything else
  /// that keeps a copy from being complete is found when the row is loaded.
  void hear_census(const repo_incomplete& x, repo_turn& t);

private:
  void decide_listing(const repo_listed& seen, const upstream_view& from,
                      repo_turn& t);
  bool hear_former_host(const repo_listed& x, const upstream_view& from,
                        repo_turn& t);
  bool is_ahead(const repo_listed& x, const upstream_view& from,
                const repo_turn& t) const;
  void prove_by_host(const account_said& x, const upstream_view& from,
                     repo_turn& t);

  account_rules& account_;
  fetch_job& job_;
  sync_state& sync_;
  identity_view& identity_;
  repo_chain& chain_;
  open_lines& listed_;
};

} // namespace weir::actors
