#pragma once

#include "storage/log/log_needs.hpp"

/// Erases the contents of versions of records that a later operation replaced
/// or deleted (docs/storage-format.md 5.2, ADR 35; CONTENT-08).
///
/// An operation names the one whose version it replaces. So the log is walked
/// once, behind `log_retention`, and its envelopes stay. Content that a
/// consumer still needs, or that is too much for one step, has a row in the
/// table `kept_content`, until it is erased later.
namespace weir::storage {

class write_batch;

/// What one step did.
struct replaced_step {
  uint64_t erased = 0; ///< Contents that were erased.
  bool more = false;   ///< More is to be done before `until`.
};

/// Adds one bounded step to the batch: up to about `ops_max` operations that
/// were written before `until`, or else as many kept contents. Runs on the
/// committer's thread.
/// @param kept_after Kept contents after this one are looked at when the walk
/// is at its end; moves on, and is 0 when all were.
result<replaced_step> stage_replaced(const database& db, uint16_t partition,
                                     op_id until, const log_needs& needs,
                                     size_t ops_max, op_id& kept_after,
                                     write_batch& batch);

/// Name of the meta row (`purge_row`) with the contents whose bytes are to be
/// removed from the disk.
constexpr const char* content_to_purge_row = "content_to_purge";

/// Adds spans to that row.
result<void> stage_purge(const database& db,
                         const std::vector<content_span>& spans,
                         write_batch& batch);

/// The content whose bytes are to be removed.
result<std::vector<content_span>> content_to_purge(const database& db);

} // namespace weir::storage
