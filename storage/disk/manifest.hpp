#pragma once

#include "base/error.hpp"

#include <leveldb/env.h>

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

/// What LevelDB's MANIFEST says about the files beside it. Included by
/// `log_repair*.cpp` only, and by others for the names of files.
namespace weir::storage {

class disk_env;
class log_scanner;

/// Logs below `log` are done with; the tables are in use.
struct manifest {
  uint64_t log = 0; ///< 0 = the first edit did not come yet.
  uint64_t previous_log = 0;
  uint64_t last_sequence = 0;
  std::set<uint64_t> tables;
};

struct manifest_survey {
  std::string name;     ///< Without the directory.
  manifest state;       ///< After the last edit that is whole.
  bool damaged = false; ///< What follows it is no edit.
  uint64_t valid_bytes = 0;
};

/// Nothing when there is no CURRENT, or one that LevelDB will refuse anyway.
/// Refuses damage that valid edits follow.
result<std::optional<manifest_survey>>
read_manifest(disk_env& disk, const std::string& directory);

/// True when every file that a state needs is there: then an edit after it
/// never took effect, or changed nothing that was acknowledged, because LevelDB
/// removes what an edit replaces only after the edit is durable.
bool is_complete(const manifest& x, const std::vector<std::string>& names);

/// True when the log of this number is among the files of a directory.
bool has_log(const std::vector<std::string>& names, uint64_t number);

/// How LevelDB calls the log of this number.
std::string log_name(uint64_t number);

error damaged_manifest(const std::string& path);

/// The number of a file that is called `<number><suffix>`.
std::optional<uint64_t> file_number(std::string_view name,
                                    std::string_view suffix) noexcept;

/// Feeds a whole file to `scanner`, in blocks of the log format.
result<void> scan_file(leveldb::Env& files, const std::string& name,
                       log_scanner& scanner);

/// `ec::disk_full` when no space was left, else `ec::storage_failure`.
error disk_error(const leveldb::Status& x);

} // namespace weir::storage
