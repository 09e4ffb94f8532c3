#pragma once

#include "atproto/stamped_frame.hpp"
#include "base/bytes.hpp"
#include "storage/format/records.hpp"

#include <memory>
#include <optional>

/// What a REPO asks the JOURNAL to write, and what it hears back. Plain
/// values: machines make them, the committer turns them into one batch.
namespace weir::storage {

/// Reserved scopes; "$" cannot occur in an NSID.
constexpr std::string_view commit_scope = "$commit";
constexpr std::string_view identity_scope = "$identity";
constexpr std::string_view account_scope = "$account";

/// Whether operations of this scope are events, which consumers may be told: those
/// of records and of accounts. What a commit itself says is none.
constexpr bool is_event_scope(std::string_view scope) noexcept {
  return !scope.starts_with('$') || scope == identity_scope
         || scope == account_scope;
}

/// A frame in the sync buffer.
struct waiting_on_disk {
  uint64_t number = 0; ///< Grows with every frame of the repo that waits.
  atproto::stamped_frame frame;
};

/// Where an operation came from.
enum class provenance : uint8_t { live = 1, buffer = 2, resync = 3 };

/// One operation to append. Its index, ids, hashes and content number are the
/// committer's business.
struct new_operation {
  std::string scope;
  atproto::op_action action = atproto::op_action::create;
  std::string rkey; ///< Empty for `$` scopes.
  atproto::cid id;  ///< Of the content; undefined on delete.
  shared_bytes content; ///< Record or signed commit block; `fact_json` for
                        ///< `$identity` and `$account`. May be empty.
  bool undecodable = false; ///< The block is no valid record; not stored.
};

/// One log block: a commit, or at most 256 operations of a resync.
struct transaction {
  atproto::tid rev; ///< Undefined for `$identity`, `$account`.
  provenance from = provenance::live;
  bool live = true;
  uint64_t job = 0;  ///< Resync id, or 0: the commit is its own job.
  int64_t time_us = 0; ///< Time in the rev, or receipt time without one.
  std::vector<new_operation> ops;
};

/// The chain after this update; streams and counts are filled by the
/// committer.
struct chain_step {
  atproto::tid rev;
  atproto::cid data;
  atproto::cid commit;
  bool streamed = false; ///< An event brought it, no fetch.
};

/// One atomic change of one repo: all of it is written, or none.
struct repo_update {
  atproto::did repo;
  /// Of the REPO actor: an update of a fenced one is dropped.
  uint64_t actor_incarnation = 0;
  /// Guard: `chain_row::commit_revision()` this update was computed on.
  uint64_t commit_revision = 0;
  /// Guard for chunks: `repo_row::resync_id` must still be this. 0 = none.
  uint64_t resync_id = 0;
  /// Chain the update was computed on; null when the repo has none.
  std::shared_ptr<const chain_row> base;
  std::vector<transaction> transactions;
  std::optional<chain_step> chain;
  std::optional<repo_row> row;
  /// The repo row before, so that the status index can be kept without a
  /// read. Undefined status when there was no row.
  std::optional<repo_status> old_status;
  std::optional<member_row> member;
  /// Account deletion or removal: sets `erased_through` to the last id before
  /// this update's own operations and empties the chain.
  bool erase = false;
  /// Remove the repo row altogether (with `erase`).
  bool forget = false;
  /// Frames that wait on disk, by the order of their arrival; written or
  /// dropped with this update, dropped first.
  std::vector<waiting_on_disk> buffer_put;
  bool buffer_clear = false;
};

enum class update_outcome : uint8_t {
  done,     ///< Durable.
  fenced,   ///< From an older incarnation; dropped on purpose.
  stale,    ///< Guard failed for a known reason (resync id): dropped.
  mismatch, ///< Revision mismatch of the current owner: the alarm (OPLOG-34).
  refused,  ///< Breaks a limit or a rule of this interface; `reason` says it.
};

/// The JOURNAL's answer.
struct update_receipt {
  update_outcome outcome = update_outcome::done;
  op_id first = 0; ///< 0 when nothing was appended.
  op_id last = 0;
  std::shared_ptr<const chain_row> chain; ///< After the update.
  op_id erased_through = 0;
  uint64_t store_epoch = 0;
  uint64_t metadata_version = 0; ///< Global metadata version (INDEX-09/10).
  std::string reason; ///< For people; empty when done.
};

} // namespace weir::storage
