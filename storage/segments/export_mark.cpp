#include "storage/segments/export_mark.hpp"

namespace weir::storage {

namespace {

std::string file_in(const std::string& directory) {
  return directory + "/COMPLETE";
}

std::string mark_of(op_id operations) {
  return "operations: " + std::to_string(operations) + "\n";
}

} // namespace

result<void> mark_complete(disk_env& disk, const std::string& directory,
                           op_id operations) {
  auto status
    = replace_file(disk, file_in(directory), mark_of(operations));
  if (status.ok())
    status = disk.sync_directory(directory);
  return status.ok() ? result<void>{} : disk_error(status);
}

result<void> check_complete(disk_env& disk, const std::string& directory,
                            op_id operations) {
  std::string text;
  const auto read
    = leveldb::ReadFileToString(&disk, file_in(directory), &text);
  if (read.IsNotFound())
    return fail(ec::invalid_argument,
                "the export in " + directory
                  + " did not end: remove it, and export again");
  if (!read.ok())
    return disk_error(read);
  if (text != mark_of(operations))
    return fail(ec::storage_failure,
                "the export in " + directory + " has "
                  + std::to_string(operations)
                  + " operations, and its file COMPLETE says otherwise: a part "
                    "of it is missing");
  return {};
}

} // namespace weir::storage
