#pragma once

#include "storage/disk/database.hpp"
#include "storage/format/erasure_row.hpp"
#include "storage/format/limits.hpp"
#include "storage/format/values.hpp"

#include <memory>
#include <optional>
#include <vector>

/// Erases what `erased_through` of a repo covers, in bounded steps that
/// continue after a restart (docs/storage-format.md 3.4 and 5.1).
namespace weir::storage {

class collection_table;

/// One step for one repo. First it erases the record heads with their content
/// references. Then it erases the content of every operation except `$account`
/// facts, the stream blocks of collections, and each collection name without
/// members. The log keeps its envelopes. When all rows are gone, the erasure
/// row stays until their bytes have left the disk.
///
/// # Ownership and threads
/// Borrows everything; runs on the committer's thread. Nothing else may be
/// written for the repo between `run` and the write of the batch.
class eraser {
public:
  eraser(const database& db, collection_table& names, uint16_t partition,
         const atproto::did& repo, write_batch& batch)
    : db_(db), names_(names), partition_(partition), repo_(repo),
      batch_(batch) {}

  /// Looks at about `rows_max` rows and adds the resulting changes to the
  /// batch.
  /// @returns true when another step must follow.
  result<bool> run(size_t rows_max);

private:
  result<void> erase_heads(erasure_row& row, size_t rows_max);
  result<void> erase_streams(erasure_row& row, size_t rows_max);
  result<size_t> erase_run(const stream_block_key& key, const stream_run& run,
                           erasure_row& row);
  result<void> leave_collection(uint32_t id);
  row_reader rest_of(key_range range, const erasure_row& row) const;

  const database& db_;
  collection_table& names_;
  uint16_t partition_;
  const atproto::did& repo_;
  write_batch& batch_;
  /// Set after the first read.
  std::optional<std::shared_ptr<const chain_row>> chain_;
};

/// Returns up to `limit` erasures that have rows to erase, and up to `limit`
/// that wait for their compaction.
result<std::vector<open_erasure>> erasures_to_sweep(const database& db,
                                                    size_t limit);

/// Erasures in the order of DIDs, those after `after`; empty means from the
/// start.
result<std::vector<open_erasure>>
open_erasures(const database& db, const atproto::did& after,
              size_t limit = limits::repos_page_max);

} // namespace weir::storage
