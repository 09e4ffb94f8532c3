#pragma once

#include "atproto/cid.hpp"
#include "atproto/frame.hpp"
#include "atproto/identifiers.hpp"
#include "base/bytes.hpp"
#include "base/position.hpp"
#include "storage/format/content_span.hpp"
#include "storage/format/repo_row.hpp"

#include <cstdint>
#include <string>
#include <vector>

/// The rows of the store as plain values; that of a repo is in `repo_row.hpp`.
/// How they become bytes is in `values.hpp`; where they live is in `keys.hpp`.
/// Numbers of enums are on disk: append, never renumber.
namespace weir::storage {

/// Head of one stream (scope of a repo) after its last operation.
struct stream_head {
  std::string scope; ///< Collection NSID or a `$` scope.
  uint64_t next_index = 0;
  atproto::digest hash{};
  uint64_t records = 0; ///< Live heads of a collection; 0 for `$` scopes.
  bool apart = false;   ///< Stored in a row of its own, beside the chain's.
};

/// Where a repo's proved history stands. On disk it is one row that names its
/// first streams, and one row for each further stream.
struct chain_row {
  atproto::tid rev; ///< Undefined before the first commit.
  atproto::cid data;
  atproto::cid commit;
  uint64_t record_count = 0;
  std::vector<stream_head> streams; ///< Sorted by scope.
  /// Heads and content of this repo at or below are absent. Outlives the repo
  /// row: a forgotten repo that comes back must not see its old heads.
  op_id erased_through = 0;
  /// Where the streams of collections begin. An erasing ends them; those that
  /// follow begin above, so that no index is used twice.
  uint64_t index_base = 0;
  /// Of the last event of a stream that was applied (CONS-09); undefined: all
  /// that is held was fetched.
  atproto::tid streamed{};

  const stream_head* find(std::string_view scope) const noexcept;

  /// Revision that guards the next update: operations of `$commit` so far.
  uint64_t commit_revision() const noexcept;
};

/// Current version of one record.
struct record_head {
  atproto::cid id;
  atproto::tid rev;
  op_id op = 0;
  uint64_t content = 0; ///< Content number; 0 = no bytes are held.
  bool referenced = false; ///< A content reference row exists.
};

/// The life of a stream in a process, which may not have ended in order.
enum class stream_life : uint8_t {
  ended = 1,   ///< In order, or never begun.
  running = 2, ///< Frames are handled side by side.
  careful = 3, ///< One at a time: the last life did not get anywhere.
  moved = 4,   ///< As running, and its cursor moved.
};

/// One upstream (CONS-04, CONS-05).
struct upstream_row {
  uint32_t id = 0;
  std::string url;   ///< Origin, as configured.
  bool relay = false; ///< Else a PDS: its events are checked against the host.
  uint32_t epoch = 1;
  uint64_t cursor = 0; ///< Low-water mark: all at or below is durable.
  uint64_t first_cursor = 0; ///< first_cursor_since_reset; 0 = unset.
  bool reset_pending = false;
  stream_life life = stream_life::ended;
  uint64_t suspect = 0; ///< Careful: seq of the frame in hand; 0 = none.
  uint32_t ends = 0;    ///< Times that the process ended with it in hand.
  /// What its host had told before this time of day, in microseconds, has come
  /// and is done; 0 = nothing is claimed.
  int64_t passed_us = 0;
  /// Its numbers start anew: while it has no cursor it is asked from its oldest
  /// event, else from now on.
  bool from_oldest = false;
};

/// Identity cache entry.
struct identity_row {
  std::string signing_key; ///< Multikey; empty = none usable.
  std::string pds;
  std::string handle;         ///< Verified; empty = handle.invalid.
  std::string claimed_handle; ///< As the document says.
  int64_t fetched_at = 0;     ///< Unix seconds.
  bool tombstoned = false;
};

/// How far the export of the directory was read.
struct export_row {
  std::string directory; ///< Its origin; empty: nothing was read.
  uint64_t place = 0;    ///< Number of the last operation that was read.
  std::string last;      ///< The CID of that one.
  /// Unix seconds: what was read is all that there was then; 0 = never.
  int64_t whole_at = 0;

  bool operator==(const export_row&) const = default;
};

/// How far the listing of an upstream's repos came.
struct listing_row {
  std::string cursor;
  bool done = false;
  position noted; ///< At its begin, first_cursor_since_reset; seq 0 = unset.
  int64_t audited = 0; ///< Unix seconds: when the last one ended; 0 = never.

  bool operator==(const listing_row&) const = default;
};

/// A consumer's durable position: everything at or below is acked; sparse
/// ranges above it live in rows of their own.
struct consumer_row {
  std::vector<op_id> positions; ///< One for each partition of the log.
  uint64_t log_identity = 0;
  bool fire_and_forget = false;
  uint64_t settled = 0;      ///< Events of the log that are acked, about.
  uint64_t dead_letters = 0; ///< Rows that it has of them.

  op_id position(uint16_t partition) const noexcept {
    return partition < positions.size() ? positions[partition] : 0;
  }
};

/// Closed range of acked operations above a consumer's position.
struct acked_range {
  op_id first = 0;
  op_id last = 0;
};

struct dead_letter_row {
  uint32_t attempts = 0;
  std::string reason;
  int64_t at = 0; ///< Unix seconds.
};

/// Per dataset and repo.
struct member_row {
  uint32_t filter_generation = 0;
  std::vector<std::string> collections; ///< Per-repo override; empty = global.
};

/// The collections a node keeps, kept from one start to the next (SYNC-20).
struct filter_row {
  uint32_t generation = 1; ///< Grows by one with every change.
  std::vector<std::string> collections; ///< Sorted; empty = all.

  bool operator==(const filter_row&) const = default;
};

/// From the operation `first` on, ids that applications see are `ahead` higher.
struct log_epoch {
  op_id first = 0;
  uint64_t ahead = 0;

  bool operator==(const log_epoch&) const = default;
};

/// What `weir adopt` began, in order; at most `limits::log_epochs_max`.
struct log_epochs_row {
  std::vector<log_epoch> begun;
};

/// A repo that has rows of a collection: records, or a history of them.
struct holder_row {
  op_id since = 0;    ///< Last operation of the update that changed `holds`.
  bool holds = false; ///< Records are there now.
};

/// A collection's name, and in whose share it counts.
struct collection_row {
  std::string name;
  std::string host; ///< Of that repo, then; empty: not known.
  std::string repo; ///< DID of the repo that began it; empty: a listing did.

  bool operator==(const collection_row&) const = default;
};

/// What is to be erased next of a repo. Numbers are on disk.
enum class erasure_stage : uint8_t {
  heads = 1,   ///< Record heads and their content references.
  streams = 2, ///< Content, stream blocks, and names that nobody else uses.
  compact = 3, ///< The rows are gone, their bytes wait for a compaction.
};

/// Erasing that SWEEPER has still to do for one repo: heads and content with
/// an id at or below `through`.
struct erasure_row {
  op_id through = 0;
  erasure_stage stage = erasure_stage::heads;
  bytes resume; ///< Last key that was looked at; empty = the stage's start.
  /// Content that may be on disk still, in order and apart from each other; at
  /// most `limits::erasure_spans_max`.
  std::vector<content_span> content;
};

} // namespace weir::storage
