#pragma once

#include "apps/weir/host_accounts.hpp"
#include "apps/weir/host_findings.hpp"
#include "apps/weir/stream_claims.hpp"
#include "storage/disk/database.hpp"
#include "storage/format/repo_row.hpp"

#include <string>

namespace weir::apps {

/// Compares the accounts of a store with those of a host: whether they are
/// known, active, and followed by a copy that claims to be true. What such a
/// copy holds is compared elsewhere (`host_check`).
///
/// # Ownership and threads
/// Borrows everything. One thread.
class account_check {
public:
  struct host {
    std::string origin;
    /// Each account has one; no account is at home at a relay.
    bool is_pds = false;
  };

  account_check(const storage::database& db, web_client& web, host where,
                const stream_claims& claims, const host_check_options& options,
                host_findings& out)
    : db_(db), web_(web), where_(std::move(where)), claims_(claims),
      options_(options), out_(out), accounts_(web, where_.origin) {
    // nop
  }

  /// The host can be asked about it.
  bool is_its_own(const storage::repo_row& row) const {
    return !where_.is_pds || row.pds == where_.origin;
  }

  /// A repo that claims no true copy here.
  /// @pre `check_listing` was called; `is_its_own`, and not both active and
  /// synced.
  void check(const atproto::did& repo, const storage::repo_row& row);

  /// What a refusal to serve it said.
  /// @pre It is active here.
  void refused(const atproto::did& repo, host_standing there);

  /// Every account that the host lists.
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

  const storage::database& db_;
  web_client& web_;
  const host where_;
  const stream_claims& claims_;
  const host_check_options& options_;
  host_findings& out_;
  host_accounts accounts_;
  bool is_listed_ = false; ///< All that is active at the host was compared.
};

} // namespace weir::apps
