#pragma once

#include "base/clock.hpp"
#include "base/error.hpp"
#include "storage/disk/store_identity.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weir::storage {

class disk_env;

/// One file of a backup.
struct backup_entry {
  std::string path; ///< In the folder: `000017.ldb`, `partition-1/CURRENT`.
  uint64_t bytes = 0;
  std::string sum = {}; ///< SHA-256 of the content, in hexadecimal digits.
  /// Which file of the store it is of (`file_stamp`); 0 and 0: not known.
  uint64_t node = 0;
  int64_t changed_ns = 0;

  bool operator==(const backup_entry&) const = default;
};

/// What a backup has, and of which log it is: the content of the file BACKUP,
/// which is written last
/// (docs/storage-format.md 7).
struct backup_list {
  std::string store{store_format}; ///< The format of its stores.
  uint64_t log_identity = 0;
  std::string log_epoch; ///< The name of the log's epoch, for people.
  uint16_t partitions = 1;
  wall_time made;
  /// For each partition, an operation that is in it, with all before it.
  std::vector<uint64_t> last_operations;
  std::vector<backup_entry> files;

  bool operator==(const backup_list&) const = default;

  /// Size of all files.
  uint64_t bytes() const noexcept;
};

/// The text of the file BACKUP. Its last line has the checksum of the others.
std::string to_text(const backup_list& x);

/// Nothing when the text is damaged, or names files in other places than those
/// of a store.
std::optional<backup_list> parse_backup_list(std::string_view text);

/// Reads the list of a folder.
///
/// # Errors
/// `ec::not_found` when the folder has none: it is no backup, or one that was
/// not finished. `ec::storage_failure` when the list is damaged or cannot be
/// read; `ec::limit_reached` above `limits::backup_list_bytes_max`;
/// `ec::invalid_argument` when it is of stores of another format.
result<backup_list> load_backup_list(disk_env& disk, const std::string& folder);

} // namespace weir::storage
