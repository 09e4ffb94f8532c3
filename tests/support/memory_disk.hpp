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

/// How much is kept of what was not synced.
enum class kept : uint8_t { some, none, all };

/// What a power loss may do beyond losing what was never synced.
struct power_loss {
  /// A kept part that was not synced may hold zeros or garbage from some point
  /// within its last 4 KiB on.
  bool garble = false;
  /// Pages of 4 KiB of what was not synced reached the disk in any order: each
  /// is kept or zeros by itself.
  bool reorder = false;
  /// Of each file from its last fsync on. With `some` any part, often none or
  /// all of it.
  kept bytes = kept::some;
  /// Of the changes of a directory since its last fsync. With `some` each is
  /// kept or lost by itself.
  kept entries = kept::some;
};

/// A disk in memory that forgets, at a power loss, what POSIX allows it to
/// forget: bytes beyond the last fsync of their file, and creations, renames
/// and removals since the last fsync of their directory.
///
/// # Threads
/// Safe from any thread, but cut the power while nobody else writes if runs
/// shall be repeatable.
class memory_disk final : public storage::disk_env {
public:
  memory_disk();
  ~memory_disk() override;

  // -- faults -----------------------------------------------------------------

  /// Decides now what will be there afterwards. Until `power_on` every call
  /// fails, so that objects above can end without a trace.
  void cut_power(random_source& random, const power_loss& how = {});

  /// The disk as the power loss left it.
  void power_on();

  /// As `kill -9` leaves it: everything written is there. Until `power_on`
  /// every call fails.
  void kill();

  // -- looking and touching ---------------------------------------------------

  std::vector<std::string> names() const;

  /// Content of a file; empty when absent.
  std::string read(const std::string& name) const;

  /// Makes or replaces a file, durably.
  void write(const std::string& name, std::string content);

  void flip_bit(const std::string& name, size_t byte, unsigned bit);

  /// An independent disk with the same content, all of it durable.
  std::unique_ptr<memory_disk> clone() const;

  /// Reads all files of a real directory, or writes them there.
  void load(const std::string& directory);
  void store(const std::string& directory) const;

  /// What `space` answers.
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
