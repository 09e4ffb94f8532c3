#include "storage/disk/newest_log.hpp"

#include "storage/disk/manifest.hpp"
#include "storage/disk/safe_env_disk.hpp"
#include "storage/format/crc32c.hpp"

#include <array>
#include <memory>

namespace weir::storage {

namespace {

using leveldb::Status;

std::string side_file(const std::string& directory) {
  return directory + "/NEWEST_LOG";
}

/// One line: the name of the log and the CRC-32C of the name in decimal.
std::string to_text(uint64_t number) {
  const auto name = log_name(number);
  return name + " " + std::to_string(crc32c(name)) + "\n";
}

} // namespace

Status write_newest_log(disk_env& disk, const std::string& directory,
                        uint64_t number) {
  return replace_file(disk, side_file(directory), to_text(number));
}

result<uint64_t> read_newest_log(disk_env& disk, const std::string& directory) {
  leveldb::SequentialFile* opened = nullptr;
  auto status = disk.NewSequentialFile(side_file(directory), &opened);
  const std::unique_ptr<leveldb::SequentialFile> file{opened};
  if (status.IsNotFound())
    return uint64_t{0};
  std::array<char, 64> scratch{};
  leveldb::Slice got;
  if (status.ok())
    status = file->Read(scratch.size(), &got, scratch.data());
  if (!status.ok())
    return disk_error(status);
  const std::string_view text{got.data(), got.size()};
  const auto number = file_number(text.substr(0, text.find(' ')), ".log");
  return number && text == to_text(*number) ? *number : uint64_t{0};
}

} // namespace weir::storage
