#pragma once

#include "actors/support/all_stores.hpp"
#include "apps/weir/host_accounts.hpp"
#include "apps/weir/host_findings.hpp"
#include "apps/weir/stream_claims.hpp"
#include "storage/format/repo_row.hpp"

#include <string>

namespace weir::apps {

/// Compares the accounts of a store with those of a host: whether they are
/// known, active, and followed by a copy that claims to be true. `host_check`
/// compares the content of such copies.
///
/// # Ownership and threads
/// Borrows everything. One thread.
class account_check {
public:
  struct host {
    std::string origin;
    /// True for a PDS, the home of accounts; no account is at home at a relay.
    bool is_pds = false;
  };

  account_check(const actors::all_stores& stores, web_client& web, host where,
                const stream_claims& claims, const host_check_options& options,
                host_findings& out)
    : stores_(stores), web_(web), where_(std::move(where)), claims_(claims),
      options_(options), out_(out), accounts_(web, where_.origin) {}

  /// True when the host can be asked about the repo.
  bool is_its_own(const storage::repo_row& row) const {
    return !where_.is_pds || row.pds == where_.origin;
  }

  /// Checks a repo that claims no true copy here.
  /// @pre `check_listing` was called; `is_its_own`, and not both active and
  /// synced.
  void check(const atproto::did& repo, const storage::repo_row& row);

  /// Checks what the host said when it refused to serve the repo.
  /// @pre The account is active here.
  void refused(const atproto::did& repo, host_standing there);

  /// Checks every account that the host lists.
  void check_listing();

private:
  void check_unsynced(const atproto::did& repo, const storage::repo_row& row);
  void check_away(const atproto::did& repo, const storage::repo_row& row);
  void check_tombstone(const atproto::did& repo);
  void check_gone(const atproto::did& repo, const storage::repo_row& row);
  result<void> check_listed(const listed_account& x);
  result<void> check_unknown(const listed_account& x);
  bool is_others_verdict(const storage::repo_row& row) const;
  bool keeps_records(const atproto::did& repo) const;

  const actors::all_stores& stores_;
  web_client& web_;
  const host where_;
  const stream_claims& claims_;
  const host_check_options& options_;
  host_findings& out_;
  host_accounts accounts_;
  bool is_listed_ = false; ///< The host's active accounts were all compared.
};

} // namespace weir::apps
