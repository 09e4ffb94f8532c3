#include "storage/disk/log_repair.hpp"

#include "base/log.hpp"
#include "storage/disk/log_scan.hpp"
#include "storage/disk/manifest.hpp"
#include "storage/disk/newest_log.hpp"
#include "storage/disk/safe_env_disk.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

namespace weir::storage {

namespace {

using leveldb::Env;
using leveldb::Slice;
using leveldb::Status;

/// Copies the bytes [begin, end) of a file into a new one and syncs it.
result<void> copy_part(Env& files, const std::string& from, uint64_t begin,
                       uint64_t end, const std::string& to) {
  leveldb::SequentialFile* source = nullptr;
  auto status = files.NewSequentialFile(from, &source);
  const std::unique_ptr<leveldb::SequentialFile> in{source};
  leveldb::WritableFile* file = nullptr;
  if (status.ok())
    status = files.NewWritableFile(to, &file);
  const std::unique_ptr<leveldb::WritableFile> out{file};
  std::string scratch(log_file_block_size, '\0');
  if (status.ok())
    status = in->Skip(begin);
  for (auto left = end - begin; status.ok() && left != 0;) {
    Slice part;
    status = in->Read(std::min<uint64_t>(left, scratch.size()), &part,
                      scratch.data());
    if (status.ok() && part.empty())
      status = Status::IOError(from, "ends early");
    if (status.ok())
      status = out->Append(part);
    left -= part.size();
  }
  if (status.ok())
    status = out->Sync();
  if (status.ok())
    status = out->Close();
  return status.ok() ? result<void>{} : disk_error(status);
}

error log_gone(const std::string& directory, uint64_t number) {
  return fail(ec::storage_failure,
              "the store's log " + directory + "/" + log_name(number)
                + " is gone, and what was written last with it: put the file "
                  "back, restore a backup, or rebuild the store from the "
                  "network in a new directory");
}

/// The MANIFEST and the side file name a log only when its name is durable, and
/// LevelDB removes a log only when a durable edit names a later one. So no
/// crash takes away a named log. Number 0 is a store that died before its first
/// log.
result<void> check_named_logs(disk_env& disk, const std::string& directory,
                              const std::vector<std::string>& names,
                              const manifest& current) {
  if (current.log != 0 && !has_log(names, current.log))
    return log_gone(directory, current.log);
  const auto newest = read_newest_log(disk, directory);
  if (!newest)
    return newest.error();
  if (*newest > current.log && !has_log(names, *newest))
    return log_gone(directory, *newest);
  return {};
}

/// Names of the logs that LevelDB will replay, oldest first.
std::vector<std::string> live_logs(const std::vector<std::string>& names,
                                   const manifest& current) {
  std::vector<std::pair<uint64_t, std::string>> found;
  for (const auto& name : names) {
    const auto number = file_number(name, ".log");
    if (number && (*number >= current.log || *number == current.previous_log))
      found.emplace_back(*number, name);
  }
  std::sort(found.begin(), found.end());
  std::vector<std::string> out;
  for (auto& [number, name] : found)
    out.push_back(std::move(name));
  return out;
}

/// A record of a log begins with the sequence number of its first change and
/// the number of its changes.
struct record_place {
  uint64_t sequence = 0;
  uint64_t count = 0;
};

std::optional<record_place> place_of(std::string_view payload) noexcept {
  constexpr size_t sequence_size = 8;
  constexpr size_t count_size = 4;
  if (payload.size() < sequence_size + count_size)
    return std::nullopt;
  record_place out;
  for (size_t i = sequence_size; i-- > 0;)
    out.sequence = out.sequence << 8 | static_cast<uint8_t>(payload[i]);
  for (size_t i = count_size; i-- > 0;)
    out.count
      = out.count << 8 | static_cast<uint8_t>(payload[sequence_size + i]);
  return out;
}

error refuse(const std::string& log, uint64_t offset) {
  return fail(ec::storage_failure,
              "the store's log " + log + " is damaged at byte "
                + std::to_string(offset)
                + " and valid records follow: starting would lose what was "
                  "acknowledged. Restore a backup, or rebuild the store from "
                  "the network in a new directory");
}

/// Keeps the first `keep` bytes of a file, and moves the others to a side file.
result<void> cut(disk_env& disk, const std::string& directory,
                 const std::string& log, uint64_t keep) {
  const auto path = directory + "/" + log;
  const auto side = "cut-" + log + "-" + std::to_string(keep);
  const auto kept = directory + "/cut-" + log + ".kept";
  uint64_t size = 0;
  if (const auto x = disk.GetFileSize(path, &size); !x.ok())
    return disk_error(x);
  if (auto x = copy_part(disk, path, keep, size, directory + "/" + side); !x)
    return x;
  if (auto x = copy_part(disk, path, 0, keep, kept); !x)
    return x;
  // The side file must be durable before its bytes leave the log.
  if (const auto x = disk.sync_directory(directory); !x.ok())
    return disk_error(x);
  if (const auto x = disk.RenameFile(kept, path); !x.ok())
    return disk_error(x);
  if (const auto x = disk.sync_directory(directory); !x.ok())
    return disk_error(x);
  log::warn("store_log_tail_cut",
            {{"directory", directory},
             {"log", log},
             {"offset", keep},
             {"bytes", size - keep},
             {"kept_in", side},
             {"reason", "damaged, nothing valid follows, never acknowledged"}});
  return {};
}

struct log_end {
  std::string name;
  uint64_t keep = 0;
};

/// Reads the live logs in order and notes where they are no longer sound.
class log_survey {
public:
  log_survey(disk_env& disk, const std::string& directory,
             const manifest& current)
    : disk_(disk), directory_(directory), current_(current) {}

  result<void> look_at(const std::string& name) {
    const auto path = directory_ + "/" + name;
    uint64_t size = 0;
    if (const auto x = disk_.GetFileSize(path, &size); !x.ok())
      return disk_error(x);
    bytes_ += size;
    log_scanner scanner{[this](std::string_view x) {
                          note(x);
                        },
                        [this](std::string_view x) {
                          return follows(x);
                        }};
    if (auto x = scan_file(disk_, path, scanner); !x)
      return x;
    const log_end end{name, scanner.valid_bytes()};
    if (scanner.valid_after() || (end_ && scanner.records() != 0))
      return refuse(directory_ + "/" + end_.value_or(end).name,
                    end_.value_or(end).keep);
    if (!end_ && (scanner.torn() || scanner.damage()))
      end_ = end;
    if (scanner.damage())
      damaged_.push_back(end);
    return {};
  }

  /// Logs to cut. They are the last ones, and nothing valid follows the damage.
  const std::vector<log_end>& damaged() const noexcept { return damaged_; }

private:
  void note(std::string_view payload) {
    if (const auto x = place_of(payload))
      last_ = x->sequence + std::max<uint64_t>(x->count, 1) - 1;
  }

  /// A later record has a higher sequence number, but not by more than the
  /// number of bytes read, since each change takes at least one byte.
  bool follows(std::string_view payload) const {
    const auto x = place_of(payload);
    return x && x->sequence > last_.value_or(0)
           && x->sequence <= last_.value_or(current_.last_sequence) + bytes_;
  }

  disk_env& disk_;
  const std::string& directory_;
  manifest current_;
  uint64_t bytes_ = 0;
  std::optional<uint64_t> last_; ///< Sequence number of the last change read.
  std::optional<log_end> end_;
  std::vector<log_end> damaged_;
};

} // namespace

result<void> repair_logs(disk_env& disk, const std::string& directory) {
  const auto known = read_manifest(disk, directory);
  if (!known)
    return known.error();
  if (!*known)
    return {};
  const auto& current = (*known)->state;
  std::vector<std::string> names;
  if (const auto x = disk.GetChildren(directory, &names); !x.ok())
    return disk_error(x);
  if ((*known)->damaged && !is_complete(current, names))
    return damaged_manifest(directory + "/" + (*known)->name);
  if (auto x = check_named_logs(disk, directory, names, current); !x)
    return x;
  log_survey survey{disk, directory, current};
  for (const auto& name : live_logs(names, current))
    if (auto x = survey.look_at(name); !x)
      return x;
  if ((*known)->damaged)
    if (auto x = cut(disk, directory, (*known)->name, (*known)->valid_bytes);
        !x)
      return x;
  for (const auto& x : survey.damaged())
    if (auto done = cut(disk, directory, x.name, x.keep); !done)
      return done;
  return {};
}

} // namespace weir::storage
