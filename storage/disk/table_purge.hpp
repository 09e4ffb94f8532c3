#pragma once

#include "storage/disk/database.hpp"

namespace weir::storage {

/// Removes deleted and overwritten values in a range of keys from the disk.
/// Readers and the writer may run meanwhile.
///
/// LevelDB keeps such values in its tables until a compaction reads them.
/// `CompactRange` does not rewrite the deepest table of a range when no table
/// lies above it. That is where a value is that was written and deleted in one
/// memtable, or that was moved down without being rewritten. So this function
/// looks into the tables: it rewrites those that contain a value which is not
/// the current one, and no others.
/// @returns true when no table and no log from before this call contains such a
/// value; false when a reader keeps one or LevelDB moved tables meanwhile: call
/// it again later.
result<bool> purge_tables(database::impl& of, const key_range& range);

} // namespace weir::storage
