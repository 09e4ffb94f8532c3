#pragma once

#include "storage/database.hpp"
#include "storage/records.hpp"

/// Takes erased bytes off the disk: LevelDB keeps what was overwritten or
/// deleted in its tables until it compacts them. All of these block until they
/// are done.
namespace weir::storage {

/// Commits that have waited for their repos.
void compact_waiting(database& db);

/// Content of the operations from `first` on, up to `last`, about
/// `slice_bytes` of it.
/// @returns where the rest begins; 0 when there is none.
op_id compact_content(database& db, uint16_t partition, op_id first,
                      op_id last, uint64_t slice_bytes);

} // namespace weir::storage
