#pragma once

#include "atproto/stamped_frame.hpp"
#include "base/bytes.hpp"
#include "storage/format/records.hpp"

#include <memory>
#include <optional>

/// What a REPO asks the JOURNAL to write, and the answer. These are plain
/// values: machines make them, and the committer turns them into one batch.
namespace weir::storage {

/// Reserved scopes. An NSID cannot contain "$".
constexpr std::string_view commit_scope = "$commit";
constexpr std::string_view identity_scope = "$identity";
constexpr std::string_view account_scope = "$account";

/// True for scopes whose operations are events, which consumers can receive:
/// those of records and of accounts. The operation of a commit itself is no
/// event.
constexpr bool is_event_scope(std::string_view scope) noexcept {
  return !scope.starts_with('$') || scope == identity_scope
         || scope == account_scope;
}

/// A frame in the sync buffer.
struct waiting_on_disk {
  uint64_t number = 0; ///< Grows with every waiting frame of the repo.
  atproto::stamped_frame frame;
};

/// The way in which an operation came.
enum class provenance : uint8_t { live = 1, buffer = 2, resync = 3 };

/// One operation to append. The committer assigns its index, ids, hashes and
/// content number.
struct new_operation {
  std::string scope;
  atproto::op_action action = atproto::op_action::create;
  std::string rkey;         ///< Empty for `$` scopes.
  atproto::cid id;          ///< CID of the content; undefined for a delete.
  shared_bytes content;     ///< Record or signed commit block; `fact_json` for
                            ///< `$identity` and `$account`. May be empty.
  bool undecodable = false; ///< The block is no valid record; not stored.
};

/// One log block: a commit, or at most 256 operations of a resync.
struct transaction {
  atproto::tid rev; ///< Undefined for `$identity`, `$account`.
  provenance from = provenance::live;
  bool live = true;
  uint64_t job = 0;    ///< Resync id; 0 when the commit is its own job.
  int64_t time_us = 0; ///< Time of the rev, or of receipt without a rev.
  std::vector<new_operation> ops;
  /// Only with a `$commit` operation: how many commits are between it and the
  /// `$commit` operation before it, of which nothing was kept.
  uint64_t passed = 0;
};

/// What a block of the log and readers of the log have in common.
struct log_envelope {
  atproto::did repo;
  atproto::tid rev; ///< Undefined for `$identity` and `$account`.
  provenance from = provenance::live;
  bool live = true;
  uint64_t job = 0; ///< Resync id; 0 when the commit is its own job.
  int64_t time_us = 0;
  int64_t written_us = 0; ///< The node's clock; it never decreases.
  /// Events in the log before it (`is_event_scope`).
  uint64_t events_before = 0;
  uint64_t passed = 0; ///< As in `transaction`.

  bool operator==(const log_envelope&) const = default;
};

/// The chain after this update. The committer fills in streams and counts.
struct chain_step {
  atproto::tid rev;
  atproto::cid data;
  atproto::cid commit;
  bool streamed = false; ///< It came as an event, not by a fetch.
  /// As in `chain_row`: commits since the last `$commit` operation.
  uint64_t passed = 0;
  shared_bytes passed_block{};
};

/// One atomic change of one repo: all of it is written, or nothing.
struct repo_update {
  atproto::did repo;
  /// Incarnation of the REPO actor. An update of a fenced actor is dropped.
  uint64_t actor_incarnation = 0;
  /// Guard: the `chain_row::commit_revision()` that this update was computed
  /// from.
  uint64_t commit_revision = 0;
  /// Guard of chunks: `repo_row::resync_id` must still be equal to this. 0 for
  /// none.
  uint64_t resync_id = 0;
  /// The chain that this update was computed from; null when the repo has none.
  std::shared_ptr<const chain_row> base;
  std::vector<transaction> transactions;
  std::optional<chain_step> chain;
  std::optional<repo_row> row;
  /// Status in the repo row before this update, so that the status index can be
  /// updated without a read. Empty when there was no row.
  std::optional<repo_status> old_status;
  std::optional<member_row> member;
  /// The account was deleted or the repo removed. Sets `erased_through` to the
  /// last id before this update's own operations and empties the chain.
  bool erase = false;
  /// Removes the repo row as well; only with `erase`.
  bool forget = false;
  /// Frames that wait on disk, in the order of their arrival. Old ones are
  /// dropped before new ones are written.
  std::vector<waiting_on_disk> buffer_put;
  bool buffer_clear = false;
};

enum class update_outcome : uint8_t {
  done,     ///< Durable.
  fenced,   ///< Sent by an older incarnation, so it was dropped.
  stale,    ///< The resync id has changed: dropped, no error.
  mismatch, ///< The owner itself used an old revision: a defect (OPLOG-34).
  refused,  ///< It breaks a limit or a rule; `reason` says which.
};

/// The JOURNAL's answer to one update.
struct update_receipt {
  update_outcome outcome = update_outcome::done;
  op_id first = 0; ///< 0 when nothing was appended.
  op_id last = 0;
  std::shared_ptr<const chain_row> chain; ///< The chain after the update.
  op_id erased_through = 0;
  uint64_t store_epoch = 0;
  std::string reason; ///< For people; empty when done.
};

} // namespace weir::storage
