#pragma once

#include "base/error.hpp"

#include <leveldb/status.h>

#include <cstdint>
#include <string>

namespace weir::storage {

class disk_env;

/// The side file `NEWEST_LOG` names the last log that LevelDB began. The
/// MANIFEST names only the oldest log that counts, so when there are two,
/// nothing else names the newer one.
///
/// It is written after the log's name is durable. After a power loss it may
/// name an older log. Then a missing log may not be noticed, but no sound store
/// is refused.

/// Replaces the side file. After a crash it is the old one or the new one.
///
/// @pre The log's name in its directory is durable.
leveldb::Status write_newest_log(disk_env& disk, const std::string& directory,
                                 uint64_t number);

/// Returns 0 when there is no side file, or one without a valid line.
result<uint64_t> read_newest_log(disk_env& disk, const std::string& directory);

} // namespace weir::storage
