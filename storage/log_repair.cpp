#include "storage/log_repair.hpp"

#include "base/log.hpp"
#include "storage/log_scan.hpp"
#include "storage/safe_env_disk.hpp"

#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>
#include <vector>

namespace weir::storage {

namespace {

using leveldb::Env;
using leveldb::Slice;
using leveldb::Status;

error from_status(const Status& x) {
  return fail(says_disk_full(x) ? ec::disk_full : ec::storage_failure,
              x.ToString());
}

// -- files --------------------------------------------------------------------

result<std::unique_ptr<leveldb::SequentialFile>>
open_to_read(Env& files, const std::string& name) {
  leveldb::SequentialFile* file = nullptr;
  if (const auto x = files.NewSequentialFile(name, &file); !x.ok())
    return from_status(x);
  return std::unique_ptr<leveldb::SequentialFile>{file};
}

/// Hands out a file in blocks of the log format.
result<void> scan_file(Env& files, const std::string& name,
                       log_scanner& scanner) {
  uint64_t left = 0;
  if (const auto x = files.GetFileSize(name, &left); !x.ok())
    return from_status(x);
  auto file = open_to_read(files, name);
  if (!file)
    return file.error();
  std::string scratch(log_file_block_size, '\0');
  while (left != 0) {
    const auto want = std::min<uint64_t>(left, log_file_block_size);
    Slice block;
    if (const auto x = (*file)->Read(want, &block, scratch.data()); !x.ok())
      return from_status(x);
    if (block.size() != want)
      return fail(ec::storage_failure, name + " ends early");
    left -= want;
    scanner.feed({block.data(), block.size()}, left == 0);
  }
  return {};
}

/// Copies bytes [begin, end) of a file into a new one and syncs it.
result<void> copy_part(Env& files, const std::string& from, uint64_t begin,
                       uint64_t end, const std::string& to) {
  auto in = open_to_read(files, from);
  if (!in)
    return in.error();
  leveldb::WritableFile* file = nullptr;
  auto status = files.NewWritableFile(to, &file);
  const std::unique_ptr<leveldb::WritableFile> out{file};
  std::string scratch(log_file_block_size, '\0');
  if (status.ok())
    status = (*in)->Skip(begin);
  for (auto left = end - begin; status.ok() && left != 0;) {
    Slice part;
    status = (*in)->Read(std::min<uint64_t>(left, scratch.size()), &part,
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
  return status.ok() ? result<void>{} : from_status(status);
}

// -- the MANIFEST -------------------------------------------------------------

/// What a MANIFEST says about logs: those below `log` are done with.
struct manifest {
  uint64_t log = 0;
  uint64_t previous_log = 0;
  uint64_t last_sequence = 0;
};

/// Takes LEB128 numbers and counted strings off a version edit.
class edit_reader {
public:
  explicit edit_reader(std::string_view x) noexcept : rest_(x) {
    // nop
  }

  bool at_end() const noexcept { return rest_.empty(); }

  bool ok() const noexcept { return ok_; }

  uint64_t number() noexcept {
    uint64_t out = 0;
    for (unsigned shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
      const auto byte = static_cast<uint8_t>(rest_.front());
      rest_.remove_prefix(1);
      out |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80)
        return out;
    }
    fail_now();
    return 0;
  }

  void numbers(int n) noexcept {
    while (n-- > 0)
      number();
  }

  void text() noexcept {
    const auto size = number();
    if (size > rest_.size())
      fail_now();
    else
      rest_.remove_prefix(static_cast<size_t>(size));
  }

  void fail_now() noexcept {
    ok_ = false;
    rest_ = {};
  }

private:
  std::string_view rest_;
  bool ok_ = true;
};

/// One version edit: fields with the numbers LevelDB gave them.
bool apply_edit(std::string_view edit, manifest& out) {
  edit_reader in{edit};
  while (!in.at_end()) {
    switch (in.number()) {
      case 1: // comparator
        in.text();
        break;
      case 2:
        out.log = in.number();
        break;
      case 3: // next file number
        in.number();
        break;
      case 4:
        out.last_sequence = in.number();
        break;
      case 5: // compaction pointer
        in.number();
        in.text();
        break;
      case 6: // removed table
        in.numbers(2);
        break;
      case 7: // new table
        in.numbers(3);
        in.text();
        in.text();
        break;
      case 9:
        out.previous_log = in.number();
        break;
      default:
        in.fail_now();
    }
  }
  return in.ok();
}

/// Nothing when there is no CURRENT, or one that LevelDB will refuse anyway.
result<std::optional<manifest>> read_manifest(disk_env& disk,
                                              const std::string& directory) {
  std::string name;
  if (!leveldb::ReadFileToString(&disk, directory + "/CURRENT", &name).ok()
      || !name.ends_with('\n'))
    return std::optional<manifest>{};
  name.pop_back();
  manifest out;
  bool sound = true;
  log_scanner scanner{[&](std::string_view edit) {
                        sound = sound && apply_edit(edit, out);
                      },
                      [](std::string_view edit) {
                        manifest ignored;
                        return !edit.empty() && apply_edit(edit, ignored);
                      }};
  const auto path = directory + "/" + name;
  if (!disk.FileExists(path))
    return std::optional<manifest>{};
  if (auto x = scan_file(disk, path, scanner); !x)
    return x.error();
  // LevelDB takes a wrong length for the end, and the tables named behind it
  // for rubbish.
  if (!sound || scanner.damage() || scanner.valid_after())
    return fail(ec::storage_failure,
                "the store's " + path
                  + " is damaged: restore a backup, or rebuild the store from "
                    "the network in a new directory");
  return std::optional{out};
}

// -- the logs -----------------------------------------------------------------

std::optional<uint64_t> log_number(std::string_view name) noexcept {
  constexpr std::string_view suffix = ".log";
  if (!name.ends_with(suffix))
    return std::nullopt;
  name.remove_suffix(suffix.size());
  uint64_t out = 0;
  const auto [end, error]
    = std::from_chars(name.data(), name.data() + name.size(), out);
  if (error != std::errc{} || end != name.data() + name.size())
    return std::nullopt;
  return out;
}

/// Names of the logs LevelDB will replay, oldest first.
result<std::vector<std::string>>
live_logs(Env& files, const std::string& directory, const manifest& current) {
  std::vector<std::string> names;
  if (const auto x = files.GetChildren(directory, &names); !x.ok())
    return from_status(x);
  std::vector<std::pair<uint64_t, std::string>> found;
  for (auto& name : names) {
    const auto number = log_number(name);
    if (number && (*number >= current.log || *number == current.previous_log))
      found.emplace_back(*number, std::move(name));
  }
  std::sort(found.begin(), found.end());
  std::vector<std::string> out;
  for (auto& [number, name] : found)
    out.push_back(std::move(name));
  return out;
}

/// A log's record begins with the sequence number of its first change and the
/// number of its changes.
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

/// Keeps the first `keep` bytes of a log, and the others in a side file.
result<void> cut(disk_env& disk, const std::string& directory,
                 const std::string& log, uint64_t keep) {
  const auto path = directory + "/" + log;
  const auto side = "cut-" + log + "-" + std::to_string(keep);
  const auto kept = directory + "/cut-" + log + ".kept";
  uint64_t size = 0;
  if (const auto x = disk.GetFileSize(path, &size); !x.ok())
    return from_status(x);
  if (auto x = copy_part(disk, path, keep, size, directory + "/" + side); !x)
    return x;
  if (auto x = copy_part(disk, path, 0, keep, kept); !x)
    return x;
  // The side file must be there before its bytes leave the log.
  if (const auto x = disk.sync_directory(directory); !x.ok())
    return from_status(x);
  if (const auto x = disk.RenameFile(kept, path); !x.ok())
    return from_status(x);
  if (const auto x = disk.sync_directory(directory); !x.ok())
    return from_status(x);
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

/// Looks at the live logs in order and remembers where they stop being sound.
class log_survey {
public:
  log_survey(disk_env& disk, const std::string& directory,
             const manifest& current)
    : disk_(disk), directory_(directory), current_(current) {
    // nop
  }

  result<void> look_at(const std::string& name) {
    const auto path = directory_ + "/" + name;
    uint64_t size = 0;
    if (const auto x = disk_.GetFileSize(path, &size); !x.ok())
      return from_status(x);
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
      return refuse(end_.value_or(end).name, end_.value_or(end).keep);
    if (!end_ && (scanner.torn() || scanner.damage()))
      end_ = end;
    if (scanner.damage())
      damaged_.push_back(end);
    return {};
  }

  /// Logs to cut: they are the last ones, and nothing valid is behind.
  const std::vector<log_end>& damaged() const noexcept { return damaged_; }

private:
  void note(std::string_view payload) {
    if (const auto x = place_of(payload))
      last_ = x->sequence + std::max<uint64_t>(x->count, 1) - 1;
  }

  /// Numbers grow, and by no more than there are bytes for changes.
  bool follows(std::string_view payload) const {
    const auto x = place_of(payload);
    return x && x->sequence > last_.value_or(0)
           && x->sequence <= last_.value_or(current_.last_sequence) + bytes_;
  }

  disk_env& disk_;
  const std::string& directory_;
  manifest current_;
  uint64_t bytes_ = 0;
  std::optional<uint64_t> last_; ///< Sequence of the last change read.
  std::optional<log_end> end_;
  std::vector<log_end> damaged_;
};

} // namespace

result<void> repair_logs(disk_env& disk, const std::string& directory) {
  const auto current = read_manifest(disk, directory);
  if (!current)
    return current.error();
  if (!*current)
    return {};
  const auto logs = live_logs(disk, directory, **current);
  if (!logs)
    return logs.error();
  log_survey survey{disk, directory, **current};
  for (const auto& name : *logs)
    if (auto x = survey.look_at(name); !x)
      return x;
  for (const auto& x : survey.damaged())
    if (auto done = cut(disk, directory, x.name, x.keep); !done)
      return done;
  return {};
}

} // namespace weir::storage
