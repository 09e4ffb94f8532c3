#pragma once

#include "base/error.hpp"

#include <leveldb/env.h>

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

/// What LevelDB's MANIFEST says about the files beside it, for
/// `log_repair*.cpp`. Some other files use it for the names of files.
namespace weir::storage {

class disk_env;
class log_scanner;

/// Logs below `log` are no longer needed; the tables are in use.
struct manifest {
  uint64_t log = 0; ///< 0 before the first edit.
  uint64_t previous_log = 0;
  uint64_t last_sequence = 0;
  std::set<uint64_t> tables;
};

struct manifest_survey {
  std::string name;     ///< Name without the directory.
  manifest state;       ///< State after the last complete edit.
  bool damaged = false; ///< What follows that edit is no edit.
  uint64_t valid_bytes = 0;
};

/// Returns nothing when there is no CURRENT, or one that LevelDB will refuse
/// anyway. Refuses damage that is followed by valid edits.
result<std::optional<manifest_survey>>
read_manifest(disk_env& disk, const std::string& directory);

/// True when every file that a state needs exists. Then an edit after it never
/// took effect, or changed nothing that was acknowledged: LevelDB removes the
/// files that an edit replaces only when the edit is durable.
bool is_complete(const manifest& x, const std::vector<std::string>& names);

/// True when the log of this number is among `names`.
bool has_log(const std::vector<std::string>& names, uint64_t number);

/// LevelDB's name for the log of this number.
std::string log_name(uint64_t number);

error damaged_manifest(const std::string& path);

/// The number of a file whose name is `<number><suffix>`.
std::optional<uint64_t> file_number(std::string_view name,
                                    std::string_view suffix) noexcept;

/// Gives a whole file to `scanner`, in blocks of the log format.
result<void> scan_file(leveldb::Env& files, const std::string& name,
                       log_scanner& scanner);

} // namespace weir::storage
