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

/// What the upstream says of the account (protocol-coverage.md 4).
enum class account_status : uint8_t {
  active = 1,
  deactivated = 2,
  suspended = 3,
  takendown = 4,
  deleted = 5,
  inactive = 6, ///< Not active, reason unknown.
};

/// As it stands in events: "active", "deactivated", ...; `inactive` is shown
/// as "deactivated" because clients know no other word.
const char* to_string(account_status x) noexcept;

/// What one relay said of an account the last time.
struct relay_word {
  /// Its own verdict, `takendown` or `suspended`; else `active`: what it
  /// passes on of the host's state is no verdict of its own.
  account_status said = account_status::active;
  position at; ///< Of that #account; `seq` 0 when a listing said it.
};

/// Who said what of an account. `repo_row::account` is `combined` of it.
struct account_words {
  account_status host = account_status::active; ///< The current host's state.
  bool asked = false; ///< The host said `host` itself when it was asked.
  position host_at;   ///< Of the last #account on the host's own stream.
  std::vector<relay_word> relays; ///< At most one of each.
  /// The directory has a tombstone for the DID: deleted, whoever says what,
  /// until it has a document again.
  bool tombstoned = false;
  uint32_t host_by = 0; ///< The relay that passed on `host`; 0: none did.
};

/// The account is active when nobody objects, else the gravest word counts:
/// deleted, takendown, suspended, deactivated, inactive.
account_status combined(const account_words& x) noexcept;

/// Everything known of one repo besides its chain. Written on transitions
/// only (CONS-19).
struct repo_row {
  repo_status status = repo_status::pending;
  account_status account = account_status::active;
  /// Position `first_cursor_since_reset` of the accounting upstream, as noted
  /// when `first_rev` was set (CONS-08).
  position fcsr;
  atproto::tid first_rev;         ///< CONS-07; undefined = unset.
  atproto::tid last_indexed_rev;  ///< CONS-06; undefined = never indexed.
  uint32_t filter_generation = 0; ///< Filter in force at the last index.
  bool gap = false;               ///< An event was lost or quarantined.
  std::string error;              ///< Why the last attempt failed.
  uint32_t retry_count = 0;
  int64_t next_retry = 0; ///< Unix seconds; 0 = not scheduled.
  int64_t last_sync = 0;  ///< Unix seconds.
  uint64_t resync_id = 0; ///< Set while `syncing`; guards chunks.
  uint64_t incarnation = 0;
  op_id erased_through = 0; ///< Older heads, content, indexes are absent.
  std::string pds;          ///< Origin of the current host; may be empty.
  /// Verified, or `handle.invalid`; empty: consumers were told of none yet.
  std::string handle;
  account_words words;      ///< Whom `account` follows from.
  /// To be looked up anew: an #identity came, or a handle is not checked yet.
  bool identity_due = false;
  /// A fetch that brings an older rev is no success: of an event that the
  /// account signed, and of a listing.
  atproto::tid missed_rev;
  atproto::tid listed_rev;
  /// When its host said RepoNotFound for the first time, in Unix seconds; 0:
  /// it did not, or said something else since.
  int64_t not_found_at = 0;
  /// Hash of the key by which events were refused; 0: none were. A document
  /// with another key or host says that they may have been true.
  uint64_t refused_by = 0;
  /// The relay whose whole listings leave the repo out, though its host has it:
  /// that one does not cover it. 0: none does.
  uint32_t left_out_by = 0;
};

} // namespace weir::storage
