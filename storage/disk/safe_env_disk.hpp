#pragma once

#include "storage/disk/disk_space.hpp"

#include <leveldb/env.h>

#include <cstdint>
#include <memory>
#include <string>

namespace weir::storage {

/// Holds a directory for one owner; released when destroyed.
class owner_lock {
public:
  virtual ~owner_lock() = default;

  /// Whether the path of the directory still leads to the one with the file that
  /// was locked. Else it was removed, or another one put in its place. Where
  /// nobody can tell, such as for want of permission, it is taken to be there.
  virtual bool is_in_place() const { return true; }
};

/// LevelDB's Env plus what it lacks for promises about power loss. This is the
/// seam under the store: `posix_disk()` in a node, a simulated one in tests.
///
/// # Threads
/// Safe from any thread, as every Env.
class disk_env : public leveldb::EnvWrapper {
public:
  using leveldb::EnvWrapper::EnvWrapper;

  /// Makes creations, renames and removals in `directory` durable.
  virtual leveldb::Status sync_directory(const std::string& directory) = 0;

  /// Of the file system below `directory`.
  virtual leveldb::Status space(const std::string& directory, disk_space& out)
    = 0;

  /// Takes `file` for one owner, creating it, or shares it with other readers
  /// (without a file there is no owner to keep out, and nothing is created).
  /// Whoever comes too late, in this process or another, gets a status that is
  /// not ok and says who holds it.
  virtual leveldb::Status lock_owner(const std::string& file, bool shared,
                                     std::unique_ptr<owner_lock>& out)
    = 0;

  /// Makes a directory its owner's alone. Not ok when that is another user, and
  /// where locks or fsync cannot be relied on (network file systems).
  virtual leveldb::Status check_place(const std::string& directory) = 0;
};

/// The machine's own files: LevelDB's default Env, except that tables are read
/// with pread instead of mmap (a bad sector is a status, not SIGBUS) and that
/// `lock_owner` uses flock on a file LevelDB does not know. Of files that others
/// may have prepared it opens regular ones only, and follows no link. Static
/// lifetime.
disk_env& posix_disk() noexcept;

/// The same with a limit of its own on tables that stay open; further ones are
/// opened for each read. `posix_disk` allows itself half of the descriptors.
std::unique_ptr<disk_env> make_posix_disk(long open_tables_max);

/// `base` as it is now, and never changed: whatever is written stays in memory
/// and is gone with the object. `base` outlives it.
class overlay_disk : public disk_env {
public:
  using disk_env::disk_env;

  /// From now on no table is written. LevelDB then gives compaction up and goes
  /// on reading; else reads of a large store would compact it into memory.
  virtual void refuse_tables() noexcept = 0;
};

std::unique_ptr<overlay_disk> read_only_disk(disk_env& base);

/// True when a status says that no space is left.
bool says_disk_full(const leveldb::Status& x);

} // namespace weir::storage
