#include "storage/backup/backup_place.hpp"

#include "base/parse_number.hpp"
#include "storage/backup/file_copy.hpp"
#include "storage/backup/limits.hpp"
#include "storage/disk/partition_stores.hpp"

#include <algorithm>
#include <cstdio>

namespace weir::storage {

namespace {

using leveldb::Status;

constexpr std::string_view backup_prefix = "backup-";

/// What else may be in a directory of backups.
constexpr std::string_view no_backups[]
  = {".", "..", "lost+found", "OWNER", "incomplete"};

std::string folder_in(const std::string& directory, uint64_t number) {
  char name[40];
  std::snprintf(name, sizeof name, "/%.*s%06llu",
                static_cast<int>(backup_prefix.size()), backup_prefix.data(),
                static_cast<unsigned long long>(number));
  return directory + name;
}

/// The number of a folder; nothing when it is not called as we call them.
std::optional<uint64_t> backup_number(const std::string& name) {
  if (!name.starts_with(backup_prefix))
    return std::nullopt;
  const auto out = parse_number<uint64_t>(
    std::string_view{name}.substr(backup_prefix.size()));
  return out && folder_in({}, *out) == "/" + name ? out : std::nullopt;
}

/// The numbers of the backups in a directory, in order.
/// @param stranger Gets the name of something else that is there.
Status numbers_in(disk_env& disk, const std::string& directory,
                  std::vector<uint64_t>& out, std::string& stranger) {
  std::vector<std::string> names;
  const auto status = disk.GetChildren(directory, &names);
  for (const auto& name : names)
    if (const auto number = backup_number(name))
      out.push_back(*number);
    else if (std::ranges::find(no_backups, name) == std::end(no_backups))
      stranger = name;
  std::ranges::sort(out);
  return status;
}

std::string parent_folder(const std::string& directory) {
  const auto slash = directory.find_last_of('/');
  return slash == std::string::npos ? "."
         : slash == 0               ? "/"
                                    : directory.substr(0, slash);
}

/// Whether a directory is `outer` or in it, whatever links lead there.
bool is_within(disk_env& disk, const std::string& directory,
               const std::string& outer) {
  file_stamp wanted;
  file_stamp at;
  if (!disk.stamp(outer, wanted).ok())
    return false;
  for (auto path = directory; disk.stamp(path, at).ok(); path += "/..") {
    if (at.device == wanted.device && at.node == wanted.node)
      return true;
    file_stamp above;
    if (!disk.stamp(path + "/..", above).ok() || above == at)
      return false;
  }
  return false;
}

error refused_place(const std::string& directory, const std::string& why) {
  return fail(ec::invalid_argument, directory + " " + why);
}

/// The directory cannot be written, because of who the user is or how the
/// program was started.
error unwritable_place(const std::string& directory, const Status& x) {
  return says_disk_full(x)
           ? backup_error(x)
           : refused_place(directory,
                           "cannot be used: " + x.ToString()
                             + "; the user who runs the node must be able to "
                               "write there, and the unit of systemd must name "
                               "it in ReadWritePaths=");
}

} // namespace

result<backup_place> backup_place::claim(disk_env& disk,
                                         std::string directory,
                                         const std::string& data_dir) {
  if (!directory.starts_with('/'))
    return refused_place('"' + directory + '"',
                         "is no absolute path: it must begin with a slash");
  while (directory.size() > 1 && directory.ends_with('/'))
    directory.pop_back();
  backup_place out{disk, directory};
  std::vector<std::string> names;
  const auto there = disk.GetChildren(directory, &names);
  if (is_within(disk, there.ok() ? directory : parent_folder(directory),
                data_dir))
    return refused_place(directory,
                         "is in the data directory: a backup belongs on "
                         "another disk, or at least in another directory");
  if (there.ok() && is_within(disk, data_dir, directory))
    return refused_place(directory, "has the data directory in it");
  if (there.IsNotFound()) {
    if (const auto x = disk.create_private(directory); x.IsNotFound())
      return refused_place(directory, "cannot be made: the directory above it "
                                      "does not exist");
    else if (!x.ok())
      return unwritable_place(directory, x);
    if (const auto x = disk.sync_directory(parent_folder(directory)); !x.ok())
      return backup_error(x);
  } else if (!there.ok()) {
    return backup_error(there);
  } else if (const auto x = disk.check_owned(directory); !x.ok()) {
    return fail(ec::invalid_argument, x.ToString());
  }
  if (auto ok = out.look(); !ok)
    return ok.error();
  return out;
}

/// Nothing is written before it is certain what the directory is for.
result<void> backup_place::look() {
  std::string stranger;
  if (const auto x = numbers_in(*disk_, directory_, numbers_, stranger);
      !x.ok())
    return backup_error(x);
  if (!stranger.empty())
    return refused_place(directory_, "holds other files (" + stranger
                                       + "), so it is no place for backups; "
                                         "choose an empty or a new directory");
  if (const auto x = disk_->lock_owner(directory_ + "/OWNER", false, lock_);
      !x.ok())
    return unwritable_place(directory_, x);
  numbers_.clear(); // Another backup may have ended just now.
  if (const auto x = numbers_in(*disk_, directory_, numbers_, stranger);
      !x.ok())
    return backup_error(x);
  const auto x = remove_folder(*disk_, draft());
  return x.ok() ? result<void>{} : backup_error(x);
}

std::string backup_place::folder_of(uint64_t number) const {
  return folder_in(directory_, number);
}

result<std::optional<backup_list>>
backup_place::newest(uint64_t log_identity) const {
  if (numbers_.empty())
    return std::optional<backup_list>{};
  auto out = load_backup_list(*disk_, newest_folder());
  if (!out)
    return std::optional<backup_list>{};
  if (out->log_identity != log_identity)
    return refused_place(directory_, "has backups of another node, or of "
                                     "another log of this one: choose another "
                                     "directory");
  return std::optional{std::move(*out)};
}

result<void> backup_place::begin_draft(uint16_t partitions) {
  for (uint16_t i = 0; i < partitions; ++i)
    if (const auto x = disk_->create_private(partition_directory(draft(), i));
        !x.ok())
      return backup_error(x);
  return {};
}

void backup_place::remove_draft() {
  remove_folder(*disk_, draft());
}

result<std::string> backup_place::complete_draft() {
  const auto number = numbers_.empty() ? 1 : numbers_.back() + 1;
  auto status = disk_->RenameFile(draft(), folder_of(number));
  if (status.ok())
    status = disk_->sync_directory(directory_);
  if (!status.ok())
    return backup_error(status);
  numbers_.push_back(number);
  while (numbers_.size() > limits::backups_kept) {
    // Under that name it is no backup, also when this ends half-way.
    if (!disk_->RenameFile(folder_of(numbers_.front()), draft()).ok())
      break;
    remove_draft();
    numbers_.erase(numbers_.begin());
  }
  return folder_of(number);
}

result<uint64_t> backup_place::free_bytes() const {
  disk_space out;
  if (const auto x = disk_->space(directory_, out); !x.ok())
    return backup_error(x);
  return out.free;
}

Status remove_folder(disk_env& disk, const std::string& folder) {
  std::vector<std::string> names;
  auto out = disk.GetChildren(folder, &names);
  if (out.IsNotFound())
    return Status::OK();
  for (const auto& name : names) {
    if (name == "." || name == "..")
      continue;
    const auto path = folder + "/" + name;
    const auto removed = name.starts_with("partition-")
                           ? remove_folder(disk, path)
                           : disk.RemoveFile(path);
    if (out.ok())
      out = removed;
  }
  return out.ok() ? disk.RemoveDir(folder) : out;
}

result<std::string> find_backup(disk_env& disk, const std::string& path) {
  uint64_t size = 0;
  if (disk.GetFileSize(path + "/" + backup_list_name, &size).ok())
    return path;
  std::vector<uint64_t> numbers;
  std::string ignored;
  if (const auto x = numbers_in(disk, path, numbers, ignored);
      !x.ok() && !x.IsNotFound())
    return disk_error(x);
  if (numbers.empty())
    return fail(ec::not_found, "there is no backup in " + path);
  return folder_in(path, numbers.back());
}

} // namespace weir::storage
