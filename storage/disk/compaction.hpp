#pragma once

#include "storage/disk/database.hpp"
#include "storage/format/erasure_row.hpp"

/// Takes erased bytes off the disk: LevelDB keeps what was overwritten or
/// deleted in its tables. All of these block until they are done.
namespace weir::storage {

/// Commits that have waited for repos, from `first` to `last` in the order of
/// keys.
result<compacted> compact_waiting(database& db, const atproto::did& first,
                                  const atproto::did& last);

/// Content of a span, about `slice_bytes` of it.
result<compacted> compact_content(database& db, uint16_t partition,
                                  content_span which, uint64_t slice_bytes);

} // namespace weir::storage
