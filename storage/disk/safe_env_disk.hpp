#pragma once

#include "base/error.hpp"
#include "storage/format/disk_space.hpp"

#include <leveldb/env.h>

#include <memory>
#include <string>

namespace weir::storage {

/// Reserves a directory for one owner until it is destroyed.
class owner_lock {
public:
  virtual ~owner_lock() = default;

  /// True while the path of the directory still leads to the file that was
  /// locked. False when the directory was removed or replaced by another. When
  /// this cannot be determined, for example without permission, the answer is
  /// true.
  virtual bool is_in_place() const { return true; }
};

/// Tells a file from every other one that has had its name or will have it, as
/// long as nobody changes it. Copies of a file have another stamp.
struct file_stamp {
  uint64_t device = 0; ///< May differ after the machine was started again.
  uint64_t node = 0;   ///< Its number on the device.
  int64_t changed_ns = 0; ///< When its content changed, since 1970.

  bool operator==(const file_stamp&) const = default;
};

/// LevelDB's Env, with what it lacks for promises about power loss. This is the
/// seam under the store: `posix_disk()` in a node, a simulated disk in tests.
///
/// # Threads
/// Safe from any thread, like every Env.
class disk_env : public leveldb::EnvWrapper {
public:
  using leveldb::EnvWrapper::EnvWrapper;

  /// Makes creations, renames and removals in `directory` durable.
  virtual leveldb::Status sync_directory(const std::string& directory) = 0;

  /// The space of the file system that `directory` is on.
  virtual leveldb::Status space(const std::string& directory, disk_space& out)
    = 0;

  /// Locks `file` for one owner, and creates it; or shares it with other
  /// readers, for which nothing is created (without a file there is no owner).
  /// When another owner or reader, in this process or another, prevents this,
  /// the status says which process it is.
  virtual leveldb::Status lock_owner(const std::string& file, bool shared,
                                     std::unique_ptr<owner_lock>& out)
    = 0;

  /// Removes access of other users to a directory. Fails when another user owns
  /// it, and on file systems where locks or fsync are not reliable (network
  /// file systems).
  virtual leveldb::Status check_place(const std::string& directory) = 0;

  /// Gives a file that never changes a second name.
  /// @returns `NotSupported` when the two are on different disks, or the disk
  /// has no such names: then it must be copied.
  virtual leveldb::Status link_file(const std::string& from,
                                    const std::string& to) {
    static_cast<void>(to);
    return leveldb::Status::NotSupported(from, "cannot have a second name");
  }

  /// The stamp of a file or a directory.
  virtual leveldb::Status stamp(const std::string& name, file_stamp& out) {
    static_cast<void>(out);
    return leveldb::Status::NotSupported(name, "has no stamp");
  }

  /// Fails when another user owns a directory or may write to it, and so could
  /// put links into it.
  virtual leveldb::Status check_owned(const std::string& directory) {
    static_cast<void>(directory);
    return leveldb::Status::OK();
  }

  /// Creates a directory that other users cannot enter.
  virtual leveldb::Status create_private(const std::string& directory) {
    return CreateDir(directory);
  }
};

/// The machine's own files: LevelDB's default Env, except for three things.
/// Tables are read with pread instead of mmap, so that a bad sector gives a
/// status and not SIGBUS. `lock_owner` uses flock on a file that LevelDB does
/// not know. A file that others may have prepared is opened only if it is a
/// regular one, and no link is followed. Static lifetime.
disk_env& posix_disk() noexcept;

/// The same with another limit of tables that stay open; tables beyond it are
/// opened for each read. `posix_disk` uses half of the process's descriptors.
std::unique_ptr<disk_env> make_posix_disk(long open_tables_max);

/// Shows `base` as it is now and never changes it: what is written stays in
/// memory and is gone with the object. `base` outlives it.
class overlay_disk : public disk_env {
public:
  using disk_env::disk_env;

  /// From now on no table is written. LevelDB then gives up compactions and
  /// still reads. Otherwise reading a large store would compact it into memory.
  virtual void refuse_tables() noexcept = 0;
};

std::unique_ptr<overlay_disk> read_only_disk(disk_env& base);

/// True when the status says that no space is left.
bool says_disk_full(const leveldb::Status& x);

/// `ec::disk_full` when no space was left, otherwise `ec::storage_failure`.
error disk_error(const leveldb::Status& x);

/// Writes a small file and syncs its content, not its name.
leveldb::Status write_durably(leveldb::Env& files, const std::string& name,
                              const std::string& text);

/// Replaces a small file. After a crash it is the old one or the new one.
leveldb::Status replace_file(leveldb::Env& files, const std::string& name,
                             const std::string& text);

} // namespace weir::storage
