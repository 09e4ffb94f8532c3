#pragma once

#include "storage/disk/database.hpp"
#include "storage/format/erasure_row.hpp"
#include "storage/format/limits.hpp"
#include "storage/format/values.hpp"

#include <memory>
#include <optional>
#include <vector>

/// Erasing of what `erased_through` of a repo covers, in bounded steps that go
/// on after a restart (actors.md, Erasing).
namespace weir::storage {

class collection_table;

/// One step for one repo. First the record heads and their content references
/// go, then the content of every operation but `$account` facts, the stream
/// blocks of collections, and each name that nobody has rows of any more. The
/// log keeps its envelopes. When all are gone, the erasure row waits for their
/// bytes to leave the disk.
///
/// # Ownership and threads
/// Borrows everything. Nothing else may be written for the repo between `run`
/// and the write of the batch. The committer's thread.
class eraser {
public:
  eraser(const database& db, collection_table& names, uint16_t partition,
         const atproto::did& repo, write_batch& batch)
    : db_(db), names_(names), partition_(partition), repo_(repo),
      batch_(batch) {
    // nop
  }

  /// Adds what a look at about `rows_max` rows leads to.
  /// @returns true when another step is to follow.
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
  std::optional<std::shared_ptr<const chain_row>> chain_; ///< Once read.
};

/// At most `limit` that have rows to erase, and as many that wait for their
/// compaction.
result<std::vector<open_erasure>> erasures_to_sweep(const database& db,
                                                    size_t limit);

/// In order of DIDs, after `after` (empty = from the start).
result<std::vector<open_erasure>>
open_erasures(const database& db, const atproto::did& after,
              size_t limit = limits::repos_page_max);

} // namespace weir::storage
