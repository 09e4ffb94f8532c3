#pragma once

#include "storage/log/log_needs.hpp"

#include <vector>

/// Removes what is not needed any more from the old part of a log
/// (docs/storage-format.md 5.2, ADR 35).
///
/// A block of the log is *spent* when none of its operations is current. An
/// operation is current while the head of its record names it, or while it is
/// the last one of a `$` scope of its repo. Spent blocks are removed as a
/// whole, with their content and the rows of their streams. So whoever reads a
/// trimmed log from its beginning still gets the current version of everything,
/// and from `log_whole_from` on every operation. A block that stays may hold
/// versions that are not current: `log_reader` marks them as outdated, because
/// what deleted them may be gone.
namespace weir::storage {

class collection_names;
class write_batch;

/// The first operation of the minute in which `time_us` lies, or of the next
/// one in which something was written. It is not behind the begin of the last
/// block, which must stay, since the ids go on from there. 1 when the log is
/// empty.
result<op_id> first_written_since(const database& db, uint16_t partition,
                                  int64_t time_us);

/// Looks at blocks that begin at `from` or later and before `until`, until they
/// have `ops_max` operations. What they replaced must have been erased before
/// (`replaced_through`): with a block the names of these versions go. A block
/// that a consumer needs does not count as spent, nor does one of a repo that
/// is being erased: the erasing still needs its rows. Any thread.
result<spent_blocks> find_spent(const database& db,
                                const collection_names& names,
                                uint16_t partition, const log_needs& needs,
                                op_id from, op_id until, size_t ops_max);

/// What was removed.
struct trimmed_log {
  uint64_t blocks = 0;
  uint64_t operations = 0;
  op_id whole_from = 1; ///< `log_whole_from` now.
};

/// Adds the removal of these blocks to the batch, but only of those that are
/// spent and were walked. Runs on the committer's thread.
result<trimmed_log> stage_trim(const database& db,
                               const collection_names& names,
                               uint16_t partition,
                               const std::vector<op_id>& firsts,
                               const log_needs& needs, write_batch& batch);

} // namespace weir::storage
