#include "storage/disk/manifest.hpp"

#include "base/parse_number.hpp"
#include "storage/disk/log_scan.hpp"
#include "storage/disk/safe_env_disk.hpp"

#include <algorithm>
#include <cstdio>
#include <memory>

namespace weir::storage {

namespace {

/// Reads LEB128 numbers and texts with a length from a version edit.
class edit_reader {
public:
  explicit edit_reader(std::string_view x) noexcept : rest_(x) {}

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

/// Applies one version edit. Its fields have LevelDB's numbers.
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
        in.number();
        out.tables.erase(in.number());
        break;
      case 7: // new table
        in.number();
        out.tables.insert(in.number());
        in.number();
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

} // namespace

result<std::optional<manifest_survey>>
read_manifest(disk_env& disk, const std::string& directory) {
  manifest_survey out;
  const auto read
    = leveldb::ReadFileToString(&disk, directory + "/CURRENT", &out.name);
  if (!read.ok() && !read.IsNotFound())
    return disk_error(read);
  if (!out.name.ends_with('\n'))
    return std::optional<manifest_survey>{};
  out.name.pop_back();
  bool sound = true;
  log_scanner scanner{[&](std::string_view edit) {
                        sound = sound && apply_edit(edit, out.state);
                      },
                      [](std::string_view edit) {
                        manifest ignored;
                        return !edit.empty() && apply_edit(edit, ignored);
                      }};
  const auto path = directory + "/" + out.name;
  if (!disk.FileExists(path))
    return std::optional<manifest_survey>{};
  if (auto x = scan_file(disk, path, scanner); !x)
    return x.error();
  // LevelDB takes a wrong length for the end of the file; it would then treat
  // the tables named after it as garbage and remove them.
  if (!sound || scanner.valid_after())
    return damaged_manifest(path);
  out.damaged = scanner.damage().has_value();
  out.valid_bytes = scanner.valid_bytes();
  return std::optional{std::move(out)};
}

bool is_complete(const manifest& x, const std::vector<std::string>& names) {
  auto missing = x.tables;
  for (const auto& name : names)
    if (const auto table = file_number(name, ".ldb"))
      missing.erase(*table);
  return x.log != 0 && has_log(names, x.log) && missing.empty();
}

bool has_log(const std::vector<std::string>& names, uint64_t number) {
  return std::ranges::any_of(names, [&](const std::string& name) {
    return file_number(name, ".log") == number;
  });
}

std::string log_name(uint64_t number) {
  char out[32];
  std::snprintf(out, sizeof out, "%06llu.log",
                static_cast<unsigned long long>(number));
  return out;
}

error damaged_manifest(const std::string& path) {
  return fail(ec::storage_failure,
              "the store's " + path
                + " is damaged: restore a backup, or rebuild the store from "
                  "the network in a new directory");
}

std::optional<uint64_t> file_number(std::string_view name,
                                    std::string_view suffix) noexcept {
  if (!name.ends_with(suffix))
    return std::nullopt;
  name.remove_suffix(suffix.size());
  return parse_number<uint64_t>(name);
}

result<void> scan_file(leveldb::Env& files, const std::string& name,
                       log_scanner& scanner) {
  uint64_t left = 0;
  if (const auto x = files.GetFileSize(name, &left); !x.ok())
    return disk_error(x);
  leveldb::SequentialFile* opened = nullptr;
  if (const auto x = files.NewSequentialFile(name, &opened); !x.ok())
    return disk_error(x);
  const std::unique_ptr<leveldb::SequentialFile> file{opened};
  std::string scratch(log_file_block_size, '\0');
  while (left != 0) {
    const auto want = std::min<uint64_t>(left, log_file_block_size);
    leveldb::Slice block;
    if (const auto x = file->Read(want, &block, scratch.data()); !x.ok())
      return disk_error(x);
    if (block.size() != want)
      return fail(ec::storage_failure, name + " ends early");
    left -= want;
    scanner.feed({block.data(), block.size()}, left == 0);
  }
  return {};
}

} // namespace weir::storage
