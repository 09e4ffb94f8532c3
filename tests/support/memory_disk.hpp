#pragma once

#include "base/random.hpp"
#include "storage/disk/safe_env_disk.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace weir::tests {

struct memory_file;
struct memory_state;

/// How much of the unsynced data is kept.
enum class kept : uint8_t { some, none, all };

/// What a power loss may do beyond losing what was never synced.
struct power_loss {
  /// The part of the unsynced data that is kept may contain zeros or garbage
  /// from some point within its last 4 KiB.
  bool garble = false;
  /// Unsynced pages of 4 KiB reach the disk in any order: each is either kept
  /// or reads as zeros.
  bool reorder = false;
  /// What is kept of each file beyond its last fsync. With `some` it is any
  /// part, often none or all of it.
  kept bytes = kept::some;
  /// What is kept of the changes of a directory since its last fsync. With
  /// `some` each change is kept or lost independently.
  kept entries = kept::some;
};

/// A disk in memory that forgets, at a power loss, what POSIX allows it to
/// forget: bytes beyond the last fsync of their file, and creations, renames
/// and removals since the last fsync of their directory.
///
/// # Threads
/// Safe from any thread. For repeatable runs no other thread may write while
/// the power is cut.
class memory_disk final : public storage::disk_env {
public:
  memory_disk();
  ~memory_disk() override;

  // -- faults -----------------------------------------------------------------

  /// Decides now what the disk will contain after the power loss. Until
  /// `power_on` every call fails, so that objects that use the disk can be
  /// destroyed without changing it.
  void cut_power(random_source& random, const power_loss& how = {});

  /// Makes the disk available, with the content that the power loss left.
  void power_on();

  /// Leaves the disk as after `kill -9`: everything that was written is there.
  /// Until `power_on` every call fails.
  void kill();

  // -- looking and touching ---------------------------------------------------

  std::vector<std::string> names() const;

  /// Content of a file; empty when it does not exist.
  std::string read(const std::string& name) const;

  /// Creates or replaces a file, durably.
  void write(const std::string& name, std::string content);

  void flip_bit(const std::string& name, size_t byte, unsigned bit);

  /// An independent disk with the same content, all of it durable.
  std::unique_ptr<memory_disk> clone() const;

  /// Reads all files of a real directory, or writes them there.
  void load(const std::string& directory);
  void store(const std::string& directory) const;

  /// The numbers that `space` returns, in bytes.
  static constexpr uint64_t total = uint64_t{1} << 40;
  uint64_t free = total;

  // -- Env --------------------------------------------------------------------

  leveldb::Status NewSequentialFile(const std::string& name,
                                    leveldb::SequentialFile** out) override;
  leveldb::Status NewRandomAccessFile(const std::string& name,
                                      leveldb::RandomAccessFile** out) override;
  leveldb::Status NewWritableFile(const std::string& name,
                                  leveldb::WritableFile** out) override;
  leveldb::Status NewAppendableFile(const std::string& name,
                                    leveldb::WritableFile** out) override;
  bool FileExists(const std::string& name) override;
  leveldb::Status GetChildren(const std::string& directory,
                              std::vector<std::string>* out) override;
  leveldb::Status RemoveFile(const std::string& name) override;
  leveldb::Status CreateDir(const std::string& directory) override;
  leveldb::Status RemoveDir(const std::string& directory) override;
  leveldb::Status GetFileSize(const std::string& name, uint64_t* size) override;
  leveldb::Status RenameFile(const std::string& from,
                             const std::string& to) override;
  leveldb::Status LockFile(const std::string& name,
                           leveldb::FileLock** out) override;
  leveldb::Status UnlockFile(leveldb::FileLock* x) override;

  leveldb::Status sync_directory(const std::string& directory) override;
  leveldb::Status space(const std::string& directory,
                        storage::disk_space& out) override;
  leveldb::Status
  lock_owner(const std::string& file, bool shared,
             std::unique_ptr<storage::owner_lock>& out) override;
  leveldb::Status check_place(const std::string& directory) override;

private:
  leveldb::Status find(const std::string& name,
                       std::shared_ptr<memory_file>& out) const;

  std::shared_ptr<memory_state> state_; ///< Shared with open files.
};

} // namespace weir::tests
