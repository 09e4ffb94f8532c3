#pragma once

#include "atproto/identifiers.hpp"
#include "base/position.hpp"
#include "storage/format/content_span.hpp"

#include <cstdint>
#include <string>
#include <vector>

/// What the store knows of a repo besides its chain. Numbers of enums are on
/// disk: append, never renumber.
namespace weir::storage {

/// Workflow state of a repo (SYNC-02).
enum class repo_status : uint8_t {
  pending = 1,
  syncing = 2,
  synced = 3,
  error = 4,
  desync = 5
};

const char* to_string(repo_status x) noexcept;

/// The state of an account (protocol-coverage.md 4).
enum class account_status : uint8_t {
  active = 1,
  deactivated = 2,
  suspended = 3,
  takendown = 4,
  deleted = 5,
  inactive = 6, ///< Not active, for an unknown reason.
};

/// The word in events: "active", "deactivated", ... `inactive` is written as
/// "deactivated", because clients know no other word.
const char* to_string(account_status x) noexcept;

/// What one relay last said of an account.
struct relay_word {
  /// The relay's own verdict, `takendown` or `suspended`; otherwise `active`.
  /// When it only passes on the host's state, that is no verdict of its own.
  account_status said = account_status::active;
  position at; ///< Position of that #account; `seq` 0 when a listing said it.
};

/// What the host and each relay say of an account. `repo_row::account` is the
/// result of `combined`.
struct account_words {
  account_status host = account_status::active; ///< State at the current host.
  bool asked = false; ///< The host itself said `host` when it was asked.
  position host_at; ///< Position of the last #account on the host's own stream.
  std::vector<relay_word> relays; ///< At most one entry for each relay.
  /// The directory has a tombstone for the DID. Then the account is deleted,
  /// whatever others say, until the directory has a document again.
  bool tombstoned = false;
  uint32_t host_by = 0; ///< The relay that passed on `host`; 0 for none.
};

/// The account is active unless somebody says otherwise. Then the gravest state
/// counts, in the order deleted, takendown, suspended, deactivated, inactive.
account_status combined(const account_words& x) noexcept;

/// Everything known of one repo besides its chain. It is written only when
/// something of it changes, not for every commit (CONS-19).
struct repo_row {
  repo_status status = repo_status::pending;
  account_status account = account_status::active;
  /// The position since which the upstream that covers the repo had no gap when
  /// `first_rev` was set (CONS-08; docs/completeness.md, The terms).
  position fcsr;
  atproto::tid first_rev;        ///< CONS-07; undefined = unset.
  atproto::tid last_indexed_rev; ///< CONS-06; undefined = never indexed.
  /// Generation of the filter at the last fetch.
  uint32_t filter_generation = 0;
  bool gap = false;  ///< An event was lost or could not be verified.
  std::string error; ///< Why the last attempt failed.
  uint32_t retry_count = 0;
  int64_t next_retry = 0; ///< Unix seconds; 0 when none is scheduled.
  int64_t last_sync = 0;  ///< Unix seconds.
  uint64_t resync_id = 0; ///< Set while `syncing`; chunks must carry it.
  uint64_t incarnation = 0;
  /// Heads, content and index rows up to this id are absent.
  op_id erased_through = 0;
  std::string pds; ///< Origin of the current host; may be empty.
  /// Verified, or `handle.invalid`; empty while consumers have not received
  /// any.
  std::string handle;
  account_words words; ///< `account` follows from these.
  /// The identity must be looked up again: an #identity came, or the handle is
  /// not verified yet.
  bool identity_due = false;
  /// A fetch must return at least these revs to succeed: that of an event which
  /// the account signed, and that of a listing.
  atproto::tid missed_rev;
  atproto::tid listed_rev;
  /// The time of the host's first answer RepoNotFound, in Unix seconds. 0 when
  /// there was none, or the host has answered something else since.
  int64_t not_found_at = 0;
  /// Hash of the key with which events failed verification; 0 for none. When
  /// the document later has another key or host, those events may have been
  /// genuine.
  uint64_t refused_by = 0;
  /// A relay whose complete listings lack the repo although its host has it, so
  /// that this relay does not cover the repo. 0 for none.
  uint32_t left_out_by = 0;
};

} // namespace weir::storage
