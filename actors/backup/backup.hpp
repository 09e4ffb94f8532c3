#pragma once

#include "actors/support/context.hpp"

#include <string>
#include <vector>

namespace weir::storage {
class database;
class disk_env;
} // namespace weir::storage

namespace weir::actors {

/// What BACKUP copies. It outlives BACKUP.
struct backup_sources {
  std::vector<storage::database*> stores; ///< In the order of partitions.
  storage::disk_env* disk = nullptr;      ///< The disk of all files.
  std::string data_dir;
};

/// Spawns the BACKUP of a node: it makes one backup at a time, piece by piece,
/// with rests between the pieces (`after_rest`). It has a thread of its own,
/// because it uses the disk.
/// @param detached False in tests, which run it on the test scheduler.
///
/// # Errors
/// A backup that fails changes nothing and is answered with the reason. While
/// the node itself is short of disk none is made, since the files that LevelDB
/// would remove stay until a backup ends.
backup_actor spawn_backup(caf::actor_system& system, context_ptr shared,
                          backup_sources from, bool detached = true);

} // namespace weir::actors
