#pragma once

#include "storage/disk/database.hpp"
#include "storage/format/records.hpp"

/// Removes erased bytes from the disk, since LevelDB keeps overwritten and
/// deleted values in its tables for some time. These calls block until they are
/// done.
namespace weir::storage {

/// Removes the frames that waited for the repos from `first` to `last`, in the
/// order of keys.
result<compacted> compact_waiting(database& db, const atproto::did& first,
                                  const atproto::did& last);

/// Removes content of a span, about `slice_bytes` bytes of it.
result<compacted> compact_content(database& db, uint16_t partition,
                                  content_span which, uint64_t slice_bytes);

} // namespace weir::storage
