#include "storage/backup/restore.hpp"

#include "storage/backup/backup_place.hpp"
#include "storage/backup/file_copy.hpp"
#include "storage/disk/partition_stores.hpp"

#include <algorithm>

namespace weir::storage {

namespace {

using leveldb::Status;

/// Name of the folder in the data directory.
constexpr const char* restoring_name = "restoring";

error bad_file(const std::string& path, const std::string& why) {
  return fail(ec::storage_failure,
              path + " " + why
                + ": this backup is damaged, and so may be those that share "
                  "the file; use another, and make the next one in a new "
                  "directory");
}

/// Finds out without reading the content.
result<void> check_length(disk_env& disk, const std::string& path,
                          const backup_entry& x) {
  uint64_t bytes = 0;
  if (const auto status = disk.GetFileSize(path, &bytes); status.IsNotFound())
    return bad_file(path, "is gone");
  else if (!status.ok())
    return disk_error(status);
  if (bytes != x.bytes)
    return bad_file(path, "has " + std::to_string(bytes) + " bytes instead of "
                            + std::to_string(x.bytes));
  return {};
}

/// Reads a file of a backup, and copies it when `to` is not empty.
result<void> read_checked(disk_env& disk, const std::string& from,
                          const backup_entry& x, const std::string& to) {
  auto copy = file_copy::open(disk, from, x.bytes, to);
  if (!copy)
    return copy.error();
  for (;;) {
    const auto sum = copy->step();
    if (!sum)
      return sum.error();
    if (!sum->empty())
      return *sum == x.sum ? result<void>{}
                           : bad_file(from, "has another content than it had");
  }
}

/// The list of a backup all of whose files are there with their lengths.
result<backup_list> look_at_backup(disk_env& disk, const std::string& folder) {
  auto list = load_backup_list(disk, folder);
  if (!list)
    return list.error();
  for (const auto& x : list->files)
    if (auto ok = check_length(disk, folder + "/" + x.path, x); !ok)
      return ok.error();
  return list;
}

} // namespace

result<backup_list> check_backup(disk_env& disk, const std::string& folder) {
  auto list = look_at_backup(disk, folder);
  if (list)
    for (const auto& x : list->files)
      if (auto ok = read_checked(disk, folder + "/" + x.path, x, {}); !ok)
        return ok.error();
  return list;
}

result<restoration> restoration::begin(disk_env& disk,
                                       const std::string& backup,
                                       const std::string& data_dir) {
  auto list = look_at_backup(disk, backup);
  if (!list)
    return list.error();
  restoration out{disk, backup, data_dir, std::move(*list)};
  if (auto ok = out.make_place(); !ok)
    return ok.error();
  return out;
}

result<void> restoration::make_place() {
  std::vector<std::string> names;
  auto status = disk_->GetChildren(data_dir_, &names);
  for (const auto& name : names)
    if (name == restoring_name)
      return fail(ec::invalid_argument,
                  data_dir_ + " has what a restore left that was not finished; "
                              "remove everything in it, and restore again");
    else if (name != "." && name != ".." && name != "lost+found")
      return fail(ec::invalid_argument,
                  data_dir_ + " is not empty (" + name
                    + "); restore to an empty or a new directory");
  if (status.IsNotFound()) {
    status = disk_->create_private(data_dir_);
    made_ = status.ok();
  } else if (status.ok()) {
    status = disk_->check_owned(data_dir_);
  }
  if (!status.ok())
    return fail(ec::invalid_argument,
                "the data directory cannot be used: " + status.ToString());
  disk_space room;
  if (const auto x = disk_->space(data_dir_, room);
      x.ok() && room.free < list_.bytes()) {
    give_up();
    return fail(ec::disk_full, "the disk of " + data_dir_ + " has "
                                 + std::to_string(room.free)
                                 + " bytes free, and the backup has "
                                 + std::to_string(list_.bytes())
                                 + "; make room on that disk");
  }
  return {};
}

std::string restoration::folder() const {
  return data_dir_ + "/" + restoring_name;
}

result<void> restoration::copy() {
  Status status;
  for (uint16_t i = 0; i < list_.partitions && status.ok(); ++i) {
    status = disk_->create_private(partition_directory(folder(), i));
    began_ |= status.ok(); // Otherwise it may be that of another restore.
  }
  if (!status.ok())
    return backup_error(status);
  for (const auto& x : list_.files)
    if (auto ok = copy_one(x); !ok)
      return ok;
  for (uint16_t i = 0; i < list_.partitions && status.ok(); ++i)
    status = disk_->sync_directory(partition_directory(folder(), i));
  return status.ok() ? result<void>{} : backup_error(status);
}

result<void> restoration::copy_one(const backup_entry& x) const {
  return read_checked(*disk_, backup_ + "/" + x.path, x,
                      folder() + "/" + x.path);
}

result<void> restoration::complete() {
  std::vector<std::string> names;
  auto status = disk_->GetChildren(folder(), &names);
  const auto move = [&](const std::string& name) {
    if (status.ok())
      status = disk_->RenameFile(folder() + "/" + name, data_dir_ + "/" + name);
  };
  for (const auto& name : names)
    if (name != "." && name != ".." && name != "FORMAT")
      move(name);
  if (status.ok())
    status = disk_->sync_directory(data_dir_);
  move("FORMAT");
  if (status.ok())
    status = disk_->sync_directory(data_dir_);
  if (!status.ok())
    return backup_error(status);
  disk_->RemoveDir(folder()); // A store may have an empty folder.
  return {};
}

void restoration::give_up() {
  if (began_)
    remove_folder(*disk_, folder());
  if (made_)
    disk_->RemoveDir(data_dir_);
}

} // namespace weir::storage
