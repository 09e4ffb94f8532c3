#pragma once

#include "storage/disk/database.hpp"
#include "storage/format/records.hpp"
#include "storage/tables/limits.hpp"

#include <vector>

/// Erases what `erased_through` of a repo covers, in bounded steps that
/// continue after a restart, and the compaction that then removes the erased
/// bytes from the disk (docs/storage-format.md 3.4 and 5.1).
namespace weir::storage {

class collection_table;

/// One step for one repo. First it erases the record heads with their content
/// references. Then it erases the content of every operation except `$account`
/// facts, the stream blocks of collections, and each collection name without
/// members. The log keeps its envelopes. When all rows are gone, the erasure
/// row stays until their bytes have left the disk.
///
/// Looks at about `rows_max` rows and adds the resulting changes to the batch.
/// Runs on the committer's thread. Nothing else may be written for the repo
/// before the batch is.
/// @returns true when another step must follow.
result<bool> stage_erasure(const database& db, collection_table& names,
                           uint16_t partition, const atproto::did& repo,
                           size_t rows_max, write_batch& batch);

/// Returns up to `limit` erasures that have rows to erase, and up to `limit`
/// that wait for their compaction.
result<std::vector<open_erasure>> erasures_to_sweep(const database& db,
                                                    size_t limit);

/// Erasures in the order of DIDs, those after `after`; empty means from the
/// start.
result<std::vector<open_erasure>>
open_erasures(const database& db, const atproto::did& after,
              size_t limit = limits::repos_page_max);

// LevelDB keeps overwritten and deleted values in its tables for some time;
// these calls remove them from the disk. They block until they are done.

/// Removes the frames that waited for the repos from `first` to `last`, in the
/// order of keys.
result<compacted> compact_waiting(database& db, const atproto::did& first,
                                  const atproto::did& last);

/// Removes content of a span, about `slice_bytes` bytes of it.
result<compacted> compact_content(database& db, uint16_t partition,
                                  content_span which, uint64_t slice_bytes);

} // namespace weir::storage
