#pragma once

#include "storage/disk/database.hpp"
#include "storage/format/update.hpp"

#include <functional>
#include <string>
#include <vector>

/// What `operation_store::apply` takes and answers.
namespace weir::storage {

/// One stream of the repo, on the branch main, and the index that its next
/// operation must get (OPLOG-04).
struct expected_stream {
  std::string scope; ///< NSID of a collection, or a `$` scope.
  uint64_t revision = 0;
};

/// What the operations of one transaction have in common, and what they are
/// based on. The operations themselves are staged (`operation_staging`).
struct apply_request {
  atproto::did repo;
  /// Every scope of which operations are staged, and any other stream that must
  /// not have changed. Several make it one transaction over several streams.
  std::vector<expected_stream> streams;
  atproto::tid rev; ///< Undefined for `$identity` and `$account`.
  provenance from = provenance::live;
  bool live = true;
  uint64_t job = 0;    ///< Resync id; 0 when the commit is its own job.
  int64_t time_us = 0; ///< Time of the rev, or of receipt without a rev.
  /// When the streams have these operations at these indices already, the
  /// answer is `replayed` instead of `revision_mismatch`. For a caller that
  /// cannot know whether an earlier call arrived.
  bool idempotent = false;
  /// With `relaxed`, a power failure may take it and what follows it, up to the
  /// next durable write or `operation_store::sync`.
  sync_mode sync = sync_mode::durable;
  /// Asked before operations are staged and before they are written. Empty: it
  /// is never cancelled (OPLOG-16).
  std::function<bool()> cancelled = {};
};

/// An operation with the index that it must get in its stream.
struct indexed_operation {
  uint64_t index = 0;
  new_operation operation;
};

/// How an `apply` ended. Unless it is `done`, nothing was written.
enum class apply_outcome : uint8_t {
  done,     ///< All is written; or nothing was staged.
  replayed, ///< All of it was there before; only with `idempotent`.
  duplicate_operation, ///< An operation is there already, or is staged twice.
  revision_mismatch,   ///< A stream is at another revision (OPLOG-34).
  invalid_index,       ///< A staged index does not follow the one before.
  invalid_operation,   ///< It breaks a limit or a rule of the format.
  staging_failed,      ///< The callback returned an error.
  cancelled,
  lock_failed, ///< Another `apply` of the same store is under way.
  /// The write failed. Whether it is on disk shows only when the store is
  /// opened again; until then nothing more is written.
  atomicity_failed,
};

/// "done", "duplicate_operation", ...
const char* to_string(apply_outcome x) noexcept;

/// The end of one stream after a transaction.
struct stream_end {
  std::string scope;
  uint64_t next_index = 0;
  atproto::digest hash{};
};

struct apply_receipt {
  apply_outcome outcome = apply_outcome::done;
  op_id first = 0; ///< 0 when nothing was staged.
  op_id last = 0;
  /// With `done`: the ends of the streams that got operations.
  std::vector<stream_end> ends;
  /// With `revision_mismatch` and `invalid_index`: the stream, the number that
  /// the caller gave, and the one that would have been right.
  std::string scope;
  uint64_t expected = 0;
  uint64_t actual = 0;
  std::string reason; ///< For people; empty when done.
};

} // namespace weir::storage
