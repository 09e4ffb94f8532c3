#pragma once

#include "base/error.hpp"

#include <leveldb/status.h>

#include <cstdint>
#include <string>

namespace weir::storage {

class disk_env;

/// The side file `NEWEST_LOG` names the last log that LevelDB began. Its MANIFEST
/// names the oldest that counts, so that nobody else knows of the newest of
/// two.
///
/// It is written after the log's name is durable, and may be older than the
/// newest log after a power loss: then less is noticed, and nothing is refused
/// that is whole.

/// Replaces the side file: after a crash it is the old one or the new one.
///
/// @pre The log's name in its directory is durable.
leveldb::Status write_newest_log(disk_env& disk, const std::string& directory,
                                 uint64_t number);

/// 0 when there is no side file, or one that says nothing.
result<uint64_t> read_newest_log(disk_env& disk, const std::string& directory);

} // namespace weir::storage
