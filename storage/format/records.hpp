#pragma once

#include "atproto/cid.hpp"
#include "atproto/frame.hpp"
#include "atproto/identifiers.hpp"
#include "base/bytes.hpp"
#include "base/position.hpp"
#include "storage/format/erasure_row.hpp"
#include "storage/format/repo_row.hpp"

#include <cstdint>
#include <string>
#include <vector>

/// The rows of the store as plain values; the row of a repo is in
/// `repo_row.hpp`. `values.hpp` encodes them, and `keys.hpp` has their keys.
/// Numbers of enums are on disk: append, never renumber.
namespace weir::storage {

/// Head of one stream, which is one scope of a repo, after its last operation.
struct stream_head {
  std::string scope; ///< Collection NSID or a `$` scope.
  uint64_t next_index = 0;
  atproto::digest hash{};
  uint64_t records = 0; ///< Live records of a collection; 0 for `$` scopes.
  bool apart = false;   ///< Stored in its own row beside the chain's row.
};

/// The state of a repo's proved history. On disk it is one row that includes
/// its first streams, and one row for each further stream.
struct chain_row {
  atproto::tid rev; ///< Undefined before the first commit.
  atproto::cid data;
  atproto::cid commit;
  uint64_t record_count = 0;
  std::vector<stream_head> streams; ///< Sorted by scope.
  /// Heads and content of this repo with ids up to this are absent. It outlives
  /// the repo row: a repo that was forgotten and comes back must not see its
  /// old heads.
  op_id erased_through = 0;
  /// First index of the streams of collections. An erasing ends those streams;
  /// the next ones begin above their indices, so that no index is used twice.
  uint64_t index_base = 0;
  /// Rev of the last event of a stream that was applied (CONS-09). Undefined
  /// when everything was fetched.
  atproto::tid streamed{};
  /// Commits since the last `$commit` operation of which nothing was kept.
  uint64_t passed = 0;
  /// The block that the account signed of the last one of these commits. No
  /// entry of the log has it. Empty when there is none.
  shared_bytes passed_block{};

  const stream_head* find(std::string_view scope) const noexcept;

  /// The revision that guards the next update: the number of `$commit`
  /// operations.
  uint64_t commit_revision() const noexcept;
};

/// The current version of one record.
struct record_head {
  atproto::cid id;
  atproto::tid rev;
  op_id op = 0;
  uint64_t content = 0;    ///< Content number; 0 when no bytes are stored.
  bool referenced = false; ///< A content reference row exists.
};

/// What the last run of a stream got done, or how it runs now.
enum class stream_life : uint8_t {
  settled = 1, ///< It ended in order, its cursor moved, or it never began.
  running = 2, ///< Frames are handled concurrently; no progress so far.
  careful = 3, ///< One frame at a time: the last run made no progress.
};

/// One upstream (CONS-04, CONS-05).
struct upstream_row {
  uint32_t id = 0;
  std::string url;    ///< The origin, as configured.
  bool relay = false; ///< If false, a PDS, whose events must match the host.
  uint32_t epoch = 1;
  uint64_t cursor = 0; ///< Everything up to this seq is processed durably.
  uint64_t first_cursor = 0; ///< Seq since which there is no gap; 0: unset.
  bool reset_pending = false;
  stream_life life = stream_life::settled;
  /// Seq of the frame being handled in careful mode; 0 for none.
  uint64_t suspect = 0;
  uint32_t ends = 0; ///< How often the process ended while handling it.
  /// Everything that the host sent before this time, in microseconds since
  /// 1970, has been received and processed. 0 when unknown.
  int64_t passed_us = 0;
  /// Set when the stream's numbers start over. Without a cursor the stream is
  /// then requested from the oldest event, otherwise from now on.
  bool from_oldest = false;
};

/// A cached identity.
struct identity_row {
  std::string signing_key; ///< As Multikey text; empty when none is usable.
  std::string pds;
  std::string handle;         ///< Verified; empty stands for handle.invalid.
  std::string claimed_handle; ///< As the document claims.
  int64_t fetched_at = 0;     ///< Unix seconds.
  bool tombstoned = false;
};

/// How far the export of the directory was read.
struct export_row {
  /// Origin of the directory; empty before the first read.
  std::string directory;
  uint64_t place = 0; ///< Number of the last operation that was read.
  std::string last;   ///< CID of that operation.
  /// The time of its last whole reading, in Unix seconds; 0 for never.
  int64_t whole_at = 0;

  bool operator==(const export_row&) const = default;
};

/// How far the listing of an upstream's repos has come.
struct listing_row {
  std::string cursor;
  bool done = false;
  position noted; ///< Since when no gap is known, at its begin; seq 0: unset.
  /// The time when the last one ended, in Unix seconds; 0 for never.
  int64_t audited = 0;

  bool operator==(const listing_row&) const = default;
};

/// A consumer's durable position: everything up to it is acked. Acked ranges
/// above it have rows of their own.
struct consumer_row {
  std::vector<op_id> positions; ///< One for each partition of the log.
  uint64_t log_identity = 0;
  bool fire_and_forget = false;
  uint64_t settled = 0;      ///< Acked events of the log, approximately.
  uint64_t dead_letters = 0; ///< Number of its dead letters.
  /// `log_whole_from` when it began to read. Before this operation it gets
  /// only current versions of records, because what replaced or deleted others
  /// may have been gone already.
  op_id current_before = 1;

  op_id position(uint16_t partition) const noexcept {
    return partition < positions.size() ? positions[partition] : 0;
  }
};

/// A closed range of acked operations above a consumer's position.
struct acked_range {
  op_id first = 0;
  op_id last = 0;
};

struct dead_letter_row {
  uint32_t attempts = 0;
  std::string reason;
  int64_t at = 0; ///< Unix seconds.
};

/// A repo in one dataset.
struct member_row {
  uint32_t filter_generation = 0;
  /// Patterns of this repo; empty for the dataset's.
  std::vector<std::string> collections;
};

/// Everything that a REPO loads at its start.
struct repo_state {
  std::optional<repo_row> row; ///< Empty when the repo is not tracked.
  std::shared_ptr<const chain_row> chain; ///< Null before any operation.
  std::optional<member_row> member;       ///< In the default dataset.
};

/// The collections that a node keeps, stored to detect changes at the next
/// start (SYNC-20).
struct filter_row {
  uint32_t generation = 1;              ///< Grows by one with every change.
  std::vector<std::string> collections; ///< Sorted; empty = all.

  bool operator==(const filter_row&) const = default;
};

/// From the operation `first` on, ids that applications see are its number plus
/// `ahead`.
struct log_epoch {
  op_id first = 0;
  uint64_t ahead = 0;

  bool operator==(const log_epoch&) const = default;
};

/// The epochs that `weir adopt` began, in order; at most
/// `limits::log_epochs_max`.
struct log_epochs_row {
  std::vector<log_epoch> begun;
};

/// A repo that has rows of a collection: records, or history of records.
struct holder_row {
  op_id since = 0;    ///< Last operation of the update that changed `holds`.
  bool holds = false; ///< It has records now.
};

/// The name of a collection, and whose share it counts in.
struct collection_row {
  std::string name;
  std::string host; ///< Host of that repo at the time; empty when unknown.
  std::string repo; ///< The repo that added it; empty for a listing.

  bool operator==(const collection_row&) const = default;
};

} // namespace weir::storage
