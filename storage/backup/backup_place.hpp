#pragma once

#include "storage/backup/backup_list.hpp"
#include "storage/disk/safe_env_disk.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace weir::storage {

/// A directory of backups of one node. Each complete backup is a folder
/// `backup-000001` and so on; the highest number is the newest. The one that is
/// being made is the folder `incomplete`, which gets its name last.
///
/// # Ownership and threads
/// Borrows the disk. Owns the directory, so that only one backup is made at a
/// time. One thread.
class backup_place {
public:
  /// Takes the directory, which is created when it is absent, and removes what
  /// an earlier backup left that was not finished.
  /// @param data_dir The data directory; the backup may not be within.
  ///
  /// # Errors
  /// `ec::invalid_argument` when the directory has other files, is within the
  /// data directory, is in use by another backup, or has no parent.
  /// `ec::storage_failure` or `ec::disk_full` when it cannot be read or
  /// written. Nothing was changed by then.
  static result<backup_place> claim(disk_env& disk,
                                    std::string directory,
                                    const std::string& data_dir);

  /// The newest backup that is of this log.
  /// @returns `ec::invalid_argument` when it is of another one; nothing when
  /// there is none, or its list is damaged
  result<std::optional<backup_list>> newest(uint64_t log_identity) const;

  /// The folder of the newest backup; empty when there is none.
  std::string newest_folder() const {
    return numbers_.empty() ? std::string{} : folder_of(numbers_.back());
  }

  /// The folder for a new one.
  std::string draft() const { return directory_ + "/incomplete"; }

  /// Makes `draft`, and in it a folder for each partition but the first.
  result<void> begin_draft(uint16_t partitions);

  /// Removes `draft` and all that is in it. Failures are left to the next
  /// backup.
  void remove_draft();

  /// Gives `draft` the next number and removes the oldest backups but for
  /// `limits::backups_kept`.
  /// @pre its files are durable
  /// @returns its folder
  result<std::string> complete_draft();

  /// The free bytes there.
  result<uint64_t> free_bytes() const;

private:
  backup_place(disk_env& disk, std::string directory)
    : disk_(&disk), directory_(std::move(directory)) {}

  std::string folder_of(uint64_t number) const;
  result<void> look();

  disk_env* disk_;
  std::string directory_;
  std::unique_ptr<owner_lock> lock_;
  std::vector<uint64_t> numbers_; ///< Of the complete backups, in order.
};

/// Removes a folder with its files and its partitions' folders. Ok when it does
/// not exist.
leveldb::Status remove_folder(disk_env& disk, const std::string& folder);

/// Where the newest backup is: `path` itself when it is a backup, otherwise the
/// newest one in it.
/// @returns `ec::not_found` when there is none
result<std::string> find_backup(disk_env& disk, const std::string& path);

} // namespace weir::storage
