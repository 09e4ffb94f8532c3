#pragma once

#include "storage/backup/backup_list.hpp"

#include <string>

namespace weir::storage {

/// Compares every file of a backup with its list. All of it is read.
/// @returns the list; `ec::storage_failure` for the first file that is missing,
/// has another length, or has another content, or what `load_backup_list` says
result<backup_list> check_backup(disk_env& disk, const std::string& folder);

/// Puts a backup into a data directory. The files come into a folder of it,
/// where the store is adopted before the directory is a store: the file FORMAT,
/// without which it is none, comes last. So a restore that ended early is never
/// taken for a store, and no parent directory has to be writable.
///
/// # Operation
/// `begin`, `copy`, then the caller begins an epoch in `folder()`, then
/// `complete`. After an error call `give_up`.
///
/// # Ownership and threads
/// Borrows the disk. One thread.
class restoration {
public:
  /// @param data_dir Empty or absent; then it is made.
  /// @returns `ec::invalid_argument` when it has files or cannot be made;
  /// `ec::disk_full` when the disk has no room for the backup
  static result<restoration> begin(disk_env& disk, const std::string& backup,
                                   const std::string& data_dir);

  /// Copies all files durably, and compares each with the list meanwhile.
  /// Nothing is linked, since the store would write to the backup then.
  result<void> copy();

  /// Where the store is until `complete`.
  std::string folder() const;

  /// Moves the store to its place, durably.
  result<void> complete();

  /// Removes what was written, and the directory if it was made.
  void give_up();

  const backup_list& list() const noexcept { return list_; }

private:
  restoration(disk_env& disk, std::string backup, std::string data_dir,
              backup_list list)
    : disk_(&disk), backup_(std::move(backup)), data_dir_(std::move(data_dir)),
      list_(std::move(list)) {}

  result<void> make_place();
  result<void> copy_one(const backup_entry& x) const;

  disk_env* disk_;
  std::string backup_;
  std::string data_dir_;
  backup_list list_;
  bool made_ = false;  ///< The data directory did not exist.
  bool began_ = false; ///< The folder is its own.
};

} // namespace weir::storage
