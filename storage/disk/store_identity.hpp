#pragma once

#include "base/error.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace weir::storage {

class disk_env;

/// Format of everything in a store; a store of any other format is refused.
/// Until it is stable, every change of the layout changes the number.
constexpr std::string_view store_format = "unstable 5";

/// Name of the file that makes a folder a backup. Nobody may write to the store
/// in it.
constexpr const char* backup_list_name = "BACKUP";

/// Says, beside LevelDB's own files, whose directory this is. It can be read
/// without opening the store, so that a refusal changes nothing.
struct store_identity {
  std::string format{store_format};
  /// A random number made with the first store of a data directory, and the
  /// same in all of them; never 0.
  uint64_t log_identity = 0;
  uint16_t partition = 0;  ///< Which one of the data directory this is,
  uint16_t partitions = 1; ///< and of how many, for ever.

  bool operator==(const store_identity&) const = default;
};

/// The text of the file FORMAT.
std::string to_text(const store_identity& x);

/// Empty when the text is no identity.
std::optional<store_identity> parse_store_identity(std::string_view text);

/// The identity in `directory`, or nothing when the directory is absent or
/// contains no store.
///
/// # Errors
/// `ec::invalid_argument` with a sentence for the operator, for another format
/// or a LevelDB directory that is not ours; `ec::storage_failure` when reading
/// failed.
result<std::optional<store_identity>>
read_store_identity(disk_env& disk, const std::string& directory);

/// Creates the directory and its parents durably.
result<void> make_store_directory(disk_env& disk, const std::string& directory);

/// Creates the file FORMAT durably.
///
/// @pre The caller owns the directory; an existing file is replaced.
result<void> write_store_identity(disk_env& disk, const std::string& directory,
                                  const store_identity& x);

} // namespace weir::storage
