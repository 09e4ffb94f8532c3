#pragma once

#include <leveldb/status.h>

#include <string>

namespace weir::storage {

class disk_env;

/// Finds out whether the store in `directory` could be opened and written: it
/// creates as many files as an opening needs, writes and syncs them, and
/// removes them. The free bytes of a disk do not say that: without inodes, with
/// a quota or on a thin volume it refuses writes although bytes are free.
///
/// No file of the store is touched. What a crash leaves behind has names of
/// LevelDB's temporary files, which LevelDB removes when it opens the store.
///
/// @returns the first refusal
leveldb::Status try_writes(disk_env& disk, const std::string& directory);

} // namespace weir::storage
