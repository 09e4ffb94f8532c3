#include "storage/disk/write_trial.hpp"

#include "base/random.hpp"
#include "storage/disk/limits.hpp"
#include "storage/disk/safe_env_disk.hpp"

namespace weir::storage {

namespace {

using leveldb::Status;

/// "0.dbtmp", "00.dbtmp" and so on: LevelDB takes them for temporary files with
/// the number 0, which it never uses.
std::string trial_file(const std::string& directory, size_t i) {
  return directory + "/" + std::string(i + 1, '0') + ".dbtmp";
}

/// Bytes that no file system can compress.
std::string noise() {
  bytes out(limits::trial_file_bytes);
  seeded_random(out.size())->fill(out);
  return {out.begin(), out.end()};
}

} // namespace

Status try_writes(disk_env& disk, const std::string& directory) {
  const auto text = noise();
  Status out;
  size_t made = 0;
  for (; made < limits::trial_files && out.ok(); ++made)
    out = write_durably(disk, trial_file(directory, made), text);
  if (out.ok())
    out = disk.sync_directory(directory);
  // All of them are there before the first one goes. A file whose creation was
  // refused may be there nevertheless.
  for (size_t i = 0; i < made; ++i)
    disk.RemoveFile(trial_file(directory, i));
  return out;
}

} // namespace weir::storage
